#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "agent/transport/rdma/port.hpp"

namespace rehearsal::rdma {

/// A datagram by which one end of a connection tells the other that its queue pairs are ready, and
/// what it has heard of the other. Padded to `size` bytes.
struct Greeting {
  static constexpr std::uint64_t kMagic = 0x6f6c6c65682d6472;  // "rd-hello"

  std::uint64_t magic = kMagic;
  std::uint64_t proof = 0;  ///< that the sender knows the token of the run
  std::uint32_t to = 0;     ///< the receiver's index of the connection
  std::uint32_t size = 0;
  std::uint32_t heard_small = 0;  ///< 1: the sender has heard a short greeting
  std::uint32_t heard_full = 0;   ///< 1: … one of full path MTU
  /// Of the receiving end: what its queue pairs reduced the sender's options to.
  std::uint32_t has_ece = 0;
  Ece ece = {};
};
inline constexpr std::uint32_t kGreetingSmall = 64;
static_assert(sizeof(Greeting) <= kGreetingSmall);

/// The unreliable datagram queue pairs of a port by which greetings come and go. Nothing is
/// repeated by the device, so that a peer that is not there yet costs no retransmission time-out.
///
/// Short and full greetings leave by queue pairs (lanes) of their own: Soft-RoCE offers a packet
/// that its network refuses (it is larger than the next port takes) again and again, nothing behind
/// it on the same queue pair leaves any more, and releasing the queue pair waits for ever. A lane
/// that stands still so is put into error, which ends that, and made anew after a while. Both sizes
/// arrive at the queue pair that number() names.
class Greeter {
 public:
  static Result<std::unique_ptr<Greeter>> open(const VerbsApi& api, Port& port);
  ~Greeter();
  Greeter(const Greeter&) = delete;
  Greeter& operator=(const Greeter&) = delete;

  /// Sends if a buffer is free; one that is lost is sent again by whoever waits for an answer.
  void send(const Greeting& greeting, ibv_ah* handle, std::uint32_t queue_pair,
            std::uint32_t queue_key, Instant now) noexcept;
  /// One that has come, if any.
  std::optional<Greeting> receive() noexcept;

  std::uint32_t number() const noexcept { return lanes_[kShort].pair->qp_num; }
  std::uint32_t queue_key() const noexcept { return queue_key_; }
  ibv_cq* queue() const noexcept { return queue_.get(); }

 private:
  static constexpr std::uint32_t kReceives = 256;
  static constexpr std::uint32_t kSends = 64;   ///< of a lane
  static constexpr std::uint32_t kHeader = 40;  ///< place of the GRH before a received datagram
  static constexpr std::size_t kShort = 0;
  static constexpr std::size_t kFull = 1;

  struct Lane {
    std::vector<std::uint32_t> free_sends;  ///< buffers of `sent_`
    QueuePair pair;
    std::uint64_t done = 0;       ///< sends that are complete
    std::uint64_t done_seen = 0;  ///< … when it was last looked
    Instant moved{};              ///< when that changed, or nothing was under way
    bool broken = false;          ///< in error: it stood still
  };
  /// A datagram is complete as soon as it has left, which a busy machine without hardware takes
  /// long for.
  static constexpr Duration kStandsStill = std::chrono::seconds{1};
  static constexpr Duration kRest = std::chrono::milliseconds{500};

  Greeter(const VerbsApi& api, Port& port) : api_(api), port_(port) {}
  Result<void> make_queue();
  Result<void> make_lane(std::size_t lane, std::uint32_t receives);
  Result<void> make_ready(ibv_qp* pair);
  Result<void> make_pair(Lane& lane, std::uint32_t receives);
  bool usable(Lane& lane, Instant now) noexcept;
  void put_into_error(Lane& lane) noexcept;
  bool post_receive(std::uint32_t buffer) noexcept;

  const VerbsApi& api_;
  Port& port_;
  std::uint32_t queue_key_ = 0x1ee7;
  std::uint32_t buffer_bytes_ = 0;
  RegisteredPiece received_;
  RegisteredPiece sent_;
  CompletionQueue queue_;
  std::array<Lane, 2> lanes_;
};

}  // namespace rehearsal::rdma
