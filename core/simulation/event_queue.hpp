#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "core/base/time.hpp"

namespace rehearsal::simulation {

/// What will happen, in order of time; of what happens at the same instant, what was put in first
/// comes first.
class EventQueue {
 public:
  void at(Instant instant, std::function<void()> event) {
    events_.emplace(std::pair{instant, order_++}, std::move(event));
  }
  /// Of the first event; kNever if there is none.
  Instant next() const { return events_.empty() ? kNever : events_.begin()->first.first; }
  /// The first event, taken out. Only when next() is not kNever.
  std::function<void()> take() { return std::move(events_.extract(events_.begin()).mapped()); }

 private:
  std::map<std::pair<Instant, std::uint64_t>, std::function<void()>> events_;
  std::uint64_t order_ = 0;
};

}  // namespace rehearsal::simulation
