#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/fault/schedule.hpp"
#include "core/plan/plan.hpp"
#include "core/replay/transport.hpp"

namespace rehearsal::replay {

/// What a fault did to messages on one host.
struct FaultCount {
  std::uint32_t fault = 0;     ///< index in the plan
  std::uint64_t messages = 0;  ///< that passed while it was on
  std::uint64_t hit = 0;       ///< of these: delayed, lost or held back
};

/// A transport whose messages are late: the faults of a plan that act on the messages of a host,
/// around any other transport. Made only where there are some, so that a healthy run does not know
/// of it.
///
/// Each side of a NIC is dealt with on the NIC's own host: what is sent is held before the
/// transport gets it, what is received before the rank hears of it. Messages of one connection stay
/// in order, none is lost for good, and credits pass untouched, so that a fault on data shows as
/// what it is. What is drawn for a message depends on the fault's seed, its connection and its
/// sequence number alone.
///
/// - `rate`: a NIC's side takes one message after the other, each as long as it would take at the
///   rate that is left. Of this the time at the full rate is left to the real network, so that a
///   message arrives when a NIC of that rate would have got it there.
/// - `delay`: of each message by itself; several may be under way.
/// - `loss`: a message is late by the retransmission time, and those behind it wait.
/// - `blackhole`: nothing passes until it is over.
class FaultedTransport final : public Transport {
 public:
  /// Whether any fault of the plan acts on messages of `host`.
  static bool needed(const plan::Plan& plan, HostIndex host);

  /// `plan` outlives this.
  FaultedTransport(std::unique_ptr<Transport> inner, const plan::Plan& plan, HostIndex host);
  ~FaultedTransport() override;
  FaultedTransport(const FaultedTransport&) = delete;
  FaultedTransport& operator=(const FaultedTransport&) = delete;

  /// Where the run is: edges are told here before the messages that follow them are posted.
  fault::Schedule& schedule() noexcept { return schedule_; }
  const fault::Schedule& schedule() const noexcept { return schedule_; }
  std::span<const FaultCount> counts() const noexcept { return counts_; }

  Capabilities capabilities() const override { return inner_->capabilities(); }
  Result<Address> open(const ConnectionSpec& spec) override;
  Result<void> connect(const ConnectionSpec& spec, const Address& address) override;
  Result<Address> offer(const ConnectionSpec& spec) override { return inner_->offer(spec); }
  Result<void> accept(const ConnectionSpec& spec, const Address& address) override {
    return inner_->accept(spec, address);
  }

  std::size_t post(std::span<const Request> requests, Instant now) noexcept override;
  std::size_t poll(std::span<Completion> completions, Instant now) noexcept override;
  Wakeup wakeup() const noexcept override;
  Result<void> limit_rate(ConnectionIndex connection, BitRate of_queue_pair) override {
    return inner_->limit_rate(connection, of_queue_pair);
  }
  TransportStatistics statistics() const noexcept override { return inner_->statistics(); }
  std::vector<std::string> bound() const override { return inner_->bound(); }
  void abort(ConnectionIndex connection) noexcept override;

 private:
  struct Held {
    Instant release;
    std::uint64_t sequence = 0;
    std::uint64_t bytes = 0;
  };
  /// One side of a connection that some fault acts on, and what is held back of it.
  struct Way {
    ConnectionIndex connection;
    bool out = false;
    std::uint64_t identity = 0;  // of the connection and side, for what is drawn
    std::uint32_t hits_begin = 0;
    std::uint32_t hits_end = 0;
    std::uint32_t held_begin = 0;  // in held_, a ring of held_max
    std::uint32_t held_max = 0;
    std::uint64_t first = 0;  // the oldest held
    std::uint32_t count = 0;
    Instant last_release = Instant::min();
    bool active = false;   // in active_
    bool refused = false;  // the inner transport pushed back
  };
  /// A fault of a way.
  struct Hit {
    std::uint32_t entry = 0;   // of the schedule
    std::uint32_t bucket = 0;  // rate: which NIC's side
  };
  struct Bucket {
    std::uint32_t entry = 0;
    NicIndex nic;
    bool out = false;
    Instant free = Instant::min();  // when it has passed on all that it was given
  };

  const fault::PlannedFault& fault_of(std::uint32_t entry) const noexcept;
  void add_way(const ConnectionSpec& spec, bool out);
  std::uint32_t bucket_of(std::uint32_t entry, NicIndex nic, bool out);
  void hold(Way& way, std::uint64_t sequence, std::uint64_t bytes, Instant now) noexcept;
  Instant through(Bucket& bucket, std::uint64_t bytes, Instant now) noexcept;
  Instant release_of(const Way& way, std::uint64_t sequence, std::uint64_t bytes,
                     Instant now) noexcept;
  bool blocked(const Way& way) const noexcept;
  bool due(const Way& way, Instant now) const noexcept;
  const Held& front(const Way& way) const noexcept;
  static void pop(Way& way) noexcept;
  void send_due(Instant now) noexcept;
  std::size_t deliver_due(std::span<Completion> completions, Instant now) noexcept;
  void forget_idle() noexcept;

  std::unique_ptr<Transport> inner_;
  const plan::Plan& plan_;
  HostIndex host_;
  fault::Schedule schedule_;
  std::vector<FaultCount> counts_;  // by entry
  std::vector<Way> ways_;
  std::vector<std::uint32_t> way_of_;  // by connection: one way each, or none
  std::vector<Hit> hits_;
  std::vector<Bucket> buckets_;
  std::vector<Held> held_;
  std::vector<std::uint32_t> active_;  // ways that hold something
};

}  // namespace rehearsal::replay
