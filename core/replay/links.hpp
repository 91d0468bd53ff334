#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/plan/plan.hpp"

namespace rehearsal::replay {

inline constexpr std::uint32_t kNoIndex = std::numeric_limits<std::uint32_t>::max();

/// One end of a connection, as the rank that owns this end sees it.
struct Link {
  ConnectionIndex connection;
  Rank peer;
  bool outgoing = false;
  bool local = false;  ///< both ends on this agent
  bool connected = false;
  std::uint32_t credits_max = 0;

  /// Outgoing: messages that may be posted now.
  std::uint32_t credits = 0;
  /// Outgoing: the next message to post. Incoming: the next to arrive.
  std::uint64_t next_sequence = 0;
  /// Incoming: messages here and not consumed.
  std::uint32_t arrived = 0;
  /// Incoming: the next message to consume (and release).
  std::uint64_t next_consumed = 0;
  /// Incoming: where its ring of sizes starts in Links::sizes.
  std::uint32_t sizes_begin = 0;

  /// The lane that stands still for this link, or kNoIndex.
  std::uint32_t waiting_lane = kNoIndex;
  /// For FlowMeter: the row of its figures; since when messages are under way or not consumed;
  /// since when a lane stands still.
  std::uint32_t meter_row = 0;
  Instant held_since = {};
  std::size_t held_at = 0;  ///< where its figures were then
  Instant stands_since = {};
  /// Outgoing: the stream whose op's messages are under way. Ops that could share a connection run
  /// one after the other, so there is only one.
  std::uint32_t stream = kNoIndex;
};

/// The connections of one rank, found by who they lead to and by the agent's index.
class Links {
 public:
  Links(const plan::Connections& connections, JobIndex job, Rank rank);

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(links_.size()); }
  Link& operator[](std::uint32_t index) noexcept { return links_[index]; }
  const Link& operator[](std::uint32_t index) const noexcept { return links_[index]; }

  /// kNoIndex: not a connection of this rank.
  std::uint32_t by_connection(ConnectionIndex connection) const noexcept {
    return connection.value < by_connection_.size() ? by_connection_[connection.value] : kNoIndex;
  }
  std::uint32_t find(CommunicatorIndex communicator, plan::ConnectionUse use, bool outgoing,
                     Rank peer, std::uint16_t channel) const noexcept;

  /// Size of the oldest message that was not consumed.
  std::uint64_t front_size(const Link& link) const noexcept { return sizes_[slot(link, 0)]; }
  void push_size(const Link& link, std::uint64_t bytes) noexcept {
    sizes_[slot(link, link.arrived)] = bytes;
  }

 private:
  struct Name {
    CommunicatorIndex communicator;
    plan::ConnectionUse use;
    bool outgoing;
    Rank peer;
    std::uint16_t channel;
    auto operator<=>(const Name&) const = default;
  };
  struct Entry {
    Name name;
    std::uint32_t link;
  };

  void add(const plan::ConnectionSpec& spec, bool outgoing, bool local);
  std::size_t slot(const Link& link, std::uint32_t ahead) const noexcept {
    return link.sizes_begin + (link.next_consumed + ahead) % link.credits_max;
  }

  std::vector<Link> links_;
  std::vector<Entry> by_name_;  // sorted
  std::vector<std::uint32_t> by_connection_;
  std::vector<std::uint64_t> sizes_;  // credits_max for each incoming link
};

}  // namespace rehearsal::replay
