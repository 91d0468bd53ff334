#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/base/units.hpp"
#include "core/replay/transport.hpp"

namespace rehearsal::replay {

class MemoryTransport;

/// A network that exists only in memory and in modelled time: the ranks of one agent hand over on
/// it, it is the `loopback` transport, and simulations run on it over virtual time. Nothing is
/// copied: messages are counts. Credits are receiver-driven as with RDMA. One thread for the fabric
/// and all its transports; the fabric outlives them.
class MemoryFabric {
 public:
  /// What shares `rate`; what is left queues behind it in order of posting.
  enum class Sharing : std::uint8_t {
    connection,  ///< nothing: every connection has the rate to itself
    rank_pair,   ///< all connections from one rank to another
    nic_pair,    ///< all connections from one NIC of a transport to one of another
  };
  struct Options {
    Duration latency{0};  ///< from the last byte sent to the message received, and of a credit
    BitRate rate = {};    ///< zero: no limit
    Sharing sharing = Sharing::connection;
    std::string_view name = "loopback";  ///< in capabilities(); static lifetime
  };

  explicit MemoryFabric(const Options& options);
  ~MemoryFabric();
  MemoryFabric(const MemoryFabric&) = delete;
  MemoryFabric& operator=(const MemoryFabric&) = delete;

 private:
  friend class MemoryTransport;
  struct State;
  std::unique_ptr<State> state_;
};

/// One agent on a MemoryFabric. When both ends of a connection are ranks of this agent, open() and
/// connect() are called with the same spec, and sends and releases of both come through here.
class MemoryTransport final : public Transport {
 public:
  explicit MemoryTransport(MemoryFabric& fabric);
  ~MemoryTransport() override;
  MemoryTransport(const MemoryTransport&) = delete;
  MemoryTransport& operator=(const MemoryTransport&) = delete;

  Capabilities capabilities() const override;
  Result<Address> open(const ConnectionSpec& spec) override;
  Result<void> connect(const ConnectionSpec& spec, const Address& address) override;

  std::size_t post(std::span<const Request> requests, Instant now) noexcept override;
  std::size_t poll(std::span<Completion> completions, Instant now) noexcept override;
  Wakeup wakeup() const noexcept override;
  void abort(ConnectionIndex connection) noexcept override;

 private:
  friend class MemoryFabric;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rehearsal::replay
