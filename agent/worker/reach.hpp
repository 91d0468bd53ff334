#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/plan/plan.hpp"

namespace rehearsal::protocol {
class ReachOrder;
class ReachReport;
}  // namespace rehearsal::protocol

namespace rehearsal::agent {

/// The agent's part of the question whether data addresses reach one another: opens and connects
/// what the coordinator orders, by the transport that a run would use, and sends one message of
/// full-size frames on each connection. A thread of its own, that sleeps; nothing of a run is
/// touched. Connections go only to addresses that came with the order.
class Reach {
 public:
  /// `notify` is called by its thread when a report is there.
  Reach(plan::Inventory inventory, std::function<void()> notify);
  ~Reach();
  Reach(const Reach&) = delete;
  Reach& operator=(const Reach&) = delete;

  /// A new `open` ends what was there.
  void order(const protocol::ReachOrder& order);
  /// Drops connections and listeners.
  void close();
  std::vector<protocol::ReachReport> take_reports();

 private:
  class Probe;
  plan::Inventory inventory_;
  std::function<void()> notify_;
  std::unique_ptr<Probe> probe_;
};

}  // namespace rehearsal::agent
