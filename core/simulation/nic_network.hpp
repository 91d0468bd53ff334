#pragma once

#include <compare>
#include <memory>

#include "core/base/units.hpp"
#include "core/replay/transport.hpp"

namespace rehearsal::simulation {

/// A network whose NICs have rates of their own, in virtual time: what is sent queues at the
/// sender's NIC, then at the receiver's (cut-through: a message that nothing stops is sent and
/// received at once), so a slow NIC holds up all its traffic and nobody else's. For histories whose
/// truth is known. One thread; it outlives its transports.
class NicNetwork {
 public:
  struct Nic {
    HostIndex host;
    NicIndex nic;
    auto operator<=>(const Nic&) const = default;
  };
  struct Options {
    BitRate rate{10'000'000'000};  ///< of every NIC, in each direction
    Duration latency = std::chrono::microseconds{5};
    /// Each message comes later by a random time: exponential, with this mean; order is kept.
    Duration jitter{0};
    std::uint64_t seed = 1;
  };

  explicit NicNetwork(const Options& options);
  ~NicNetwork();
  NicNetwork(const NicNetwork&) = delete;
  NicNetwork& operator=(const NicNetwork&) = delete;

  /// From now on; also while traffic runs.
  void set_send_rate(Nic nic, BitRate rate);
  void set_receive_rate(Nic nic, BitRate rate);
  /// Messages from one NIC to another take longer, by a rate of their own and a delay of each.
  void set_link(Nic source, Nic destination, BitRate rate, Duration delay);

  /// The transport of one agent.
  std::unique_ptr<replay::Transport> transport(HostIndex host);

 private:
  friend class NicTransport;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rehearsal::simulation
