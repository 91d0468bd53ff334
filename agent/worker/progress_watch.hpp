#pragma once

#include <cstdint>

#include "core/base/time.hpp"
#include "core/plan/settings.hpp"

namespace rehearsal::agent {

/// Tells when a run has stood still, or gone on, for longer than the plan allows.
class ProgressWatch {
 public:
  enum class Verdict : std::uint8_t { fine, stalled, too_long };

  explicit ProgressWatch(const plan::Limits& limits) : limits_(limits) {}

  /// `moved` rises with each op done and each message; `busy`: a step is under way and waits for
  /// others, so something should move some time.
  Verdict look(std::uint64_t moved, bool started, bool busy, Instant now) noexcept {
    if (started && first_start_ == kNever) first_start_ = now;
    if (!busy || moved != moved_) {
      moved_ = moved;
      last_change_ = now;
    }
    if (first_start_ != kNever && now - first_start_ > limits_.duration) return Verdict::too_long;
    if (busy && now - last_change_ > limits_.progress) return Verdict::stalled;
    return Verdict::fine;
  }

  /// Nothing moved since then.
  Instant last_change() const noexcept { return last_change_; }

 private:
  plan::Limits limits_;
  std::uint64_t moved_ = 0;
  Instant last_change_ = kNever;
  Instant first_start_ = kNever;
};

}  // namespace rehearsal::agent
