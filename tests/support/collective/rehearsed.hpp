#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include "core/collective/expansion.hpp"

namespace rehearsal::test {

/// What a byte holds: the sum of what ranks contributed. The first 16 ranks count in a hexadecimal
/// digit each, so that a wrong sum can be read; further ones add numbers that no mistake makes up.
using Content = std::uint64_t;
inline Content from_rank(std::uint32_t rank) {
  if (rank < 16) return Content{1} << (4 * rank);
  Content mixed = (rank + 1) * 0x9e37'79b9'7f4a'7c15U;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58'476d'1ce4'e5b9U;
  return mixed ^ (mixed >> 31);
}
inline Content from_all(std::uint32_t size) {
  Content all = 0;
  for (std::uint32_t rank = 0; rank < size; ++rank) all += from_rank(rank);
  return all;
}

/// Runs one op on all ranks with symbolic payload, checks what holds for every algorithm, and keeps
/// what arrived for the test to check.
///
/// A rank works in place: `data` begins as its own contribution everywhere; a step sends from
/// there, and what it receives is kept there (but for the actions that only pass on).
///
/// Checked: every send has its receive with the same place and size, in the same order on each
/// connection; a connection belongs to one lane at each end; sizes on the wire are the protocol's;
/// nothing stands still with `credits` messages on a connection (0: as many as it likes); the
/// totals an expansion states are those of its steps.
class Rehearsed {
 public:
  struct Op {
    profile::OpKind kind = profile::OpKind::all_reduce;
    std::uint64_t bytes = 0;
    std::uint32_t root = 0;  ///< send: who receives, from the rank after it
    const profile::PeerBytes* per_peer = nullptr;
  };

  Rehearsed(const Op& op, const collective::Shape& shape, const collective::Choice& choice,
            const collective::Settings& settings = {}, std::uint32_t credits = 0)
      : size_(shape.size()), protocol_(choice.protocol), credits_(credits) {
    for (std::uint32_t rank = 0; rank < size_; ++rank)
      expansions.push_back(expand(op, rank, shape, choice, settings));
    // For pairs the offset counts in the message of the pair, which is no longer than the array.
    const std::uint64_t room = op.per_peer != nullptr ? largest(*op.per_peer) : op.bytes + 4;
    for (std::uint32_t rank = 0; rank < size_; ++rank) data.emplace_back(room, from_rank(rank));
    kept.assign(size_, std::vector<Content>(room, 0));
    pair_received.assign(std::size_t{size_} * size_, {});
    sent.assign(size_, {});
    room_ = room;
    run();
  }

  std::uint32_t sender_for(std::uint32_t root) const { return (root + 1) % size_; }

  std::vector<collective::Expansion> expansions;
  std::vector<std::vector<Content>> data;  ///< by rank: where it works
  std::vector<std::vector<Content>> kept;  ///< by rank: what was received and kept, else 0
  std::vector<std::vector<int>>
      pair_received;  ///< [source * size + destination][offset]: how often; empty if never
  std::vector<collective::Amount> sent;  ///< by rank

  /// Who a message is from, to, and on which channel.
  using Link = std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>;
  std::map<Link, collective::Traffic> links;  ///< what went over each

  std::uint64_t bytes_sent() const {
    std::uint64_t total = 0;
    for (const auto& amount : sent) total += amount.bytes;
    return total;
  }

 private:
  struct Lane {
    std::uint32_t rank;
    collective::Cursor cursor;
    collective::Step step;
    bool has_step;
  };
  struct Message {
    std::uint64_t offset = 0;
    std::uint64_t wire = 0;
    std::vector<Content> content;
  };

  collective::Expansion expand(const Op& what, std::uint32_t rank, const collective::Shape& shape,
                               const collective::Choice& choice,
                               const collective::Settings& settings) const {
    profile::Op op;
    op.kind = what.kind;
    op.bytes = Bytes{what.bytes};
    op.peer = what.root;
    if (what.kind == profile::OpKind::send && rank != sender_for(what.root)) {
      if (rank != what.root) return {};
      op.kind = profile::OpKind::recv;
      op.peer = sender_for(what.root);
    }
    return collective::expand(op, rank, shape, choice, what.per_peer, settings);
  }

  static std::uint64_t largest(const profile::PeerBytes& sizes) {
    std::uint64_t most = 0;
    for (const Bytes bytes : sizes.bytes) most = std::max(most, bytes.count());
    return most;
  }

  void run() {
    std::vector<Lane> lanes;
    for (std::uint32_t rank = 0; rank < size_; ++rank)
      for (std::uint32_t i = 0; i < expansions[rank].lane_count(); ++i) {
        Lane lane{rank, expansions[rank].lane(i), {}, false};
        lane.has_step = lane.cursor.next(lane.step);
        lanes.push_back(lane);
      }
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t i = 0; i < lanes.size(); ++i)
        while (lanes[i].has_step && move(lanes[i], i)) {
          moved = true;
          lanes[i].has_step = lanes[i].cursor.next(lanes[i].step);
        }
    }
    for (const Lane& lane : lanes) {
      EXPECT_FALSE(lane.has_step) << "rank " << lane.rank << " stands still";
      collective::Step step;
      EXPECT_FALSE(collective::Cursor{lane.cursor}.next(step)) << "a cursor that ended goes on";
    }
    for (const auto& [link, queue] : queues_) EXPECT_TRUE(queue.empty()) << "left over";
    compare_totals();
  }

  bool move(Lane& lane, std::size_t index) {
    const collective::Step& step = lane.step;
    EXPECT_GT(step.bytes, 0U);
    EXPECT_EQ(step.wire, collective::wire_bytes(protocol_, step.bytes));
    const Link in{step.from, lane.rank, step.channel};
    const Link out{lane.rank, step.to, step.channel};
    if (receives(step.action) && queues_[in].empty()) return false;
    if (sends(step.action) && credits_ > 0 && queues_[out].size() >= credits_) return false;

    auto& own = data[lane.rank];
    const auto begin = own.begin() + static_cast<std::ptrdiff_t>(step.offset);
    std::vector<Content> content(begin, begin + static_cast<std::ptrdiff_t>(step.bytes));
    if (receives(step.action)) {
      const Message& message = queues_[in].front();
      EXPECT_EQ(receiving_lane_.try_emplace(in, index).first->second, index);
      EXPECT_EQ(message.content.size(), step.bytes);
      EXPECT_EQ(message.wire, step.wire);
      EXPECT_EQ(message.offset, step.offset);
      if (message.content.size() != step.bytes) return false;
      auto& times = pair_received[std::size_t{step.from} * size_ + lane.rank];
      times.resize(room_);
      for (std::uint64_t i = 0; i < step.bytes; ++i) ++times[step.offset + i];
      take(lane.rank, step, message.content, content);
      queues_[in].pop_front();
    }
    if (sends(step.action)) {
      EXPECT_NE(step.to, lane.rank);
      EXPECT_EQ(sending_lane_.try_emplace(out, index).first->second, index);
      const collective::Amount amount{step.bytes, step.wire, 1};
      links[out].amount += amount;
      links[out].message_bytes_max = std::max(links[out].message_bytes_max, step.wire);
      sent[lane.rank] += amount;
      queues_[out].push_back({step.offset, step.wire, content});
    }
    return true;
  }

  /// `content`: own data before, what is passed on after.
  void take(std::uint32_t rank, const collective::Step& step, const std::vector<Content>& message,
            std::vector<Content>& content) {
    using collective::Action;
    const bool reduces = step.action == Action::recv_reduce ||
                         step.action == Action::recv_reduce_send ||
                         step.action == Action::recv_reduce_copy_send;
    const bool keeps = step.action != Action::recv_reduce_send && step.action != Action::recv_send;
    for (std::uint64_t i = 0; i < step.bytes; ++i) {
      content[i] = message[i] + (reduces ? content[i] : 0);
      if (keeps) data[rank][step.offset + i] = kept[rank][step.offset + i] = content[i];
    }
  }

  void compare_totals() {
    std::map<Link, collective::Traffic> stated_sent;
    std::map<Link, collective::Traffic> stated_received;
    for (std::uint32_t rank = 0; rank < size_; ++rank) {
      std::vector<collective::Traffic> traffic;
      expansions[rank].append_sent(traffic);
      for (const auto& t : traffic)
        EXPECT_TRUE(stated_sent.emplace(Link{rank, t.peer, t.channel}, t).second);
      traffic.clear();
      expansions[rank].append_received(traffic);
      for (const auto& t : traffic)
        EXPECT_TRUE(stated_received.emplace(Link{t.peer, rank, t.channel}, t).second);
    }
    const std::uint64_t slack = collective::wire_bytes(protocol_, collective::kAlignment);
    const auto same = [&](const std::map<Link, collective::Traffic>& stated) {
      EXPECT_EQ(stated.size(), links.size());
      for (const auto& [link, walked] : links) {
        const auto found = stated.find(link);
        ASSERT_NE(found, stated.end());
        EXPECT_EQ(found->second.amount.bytes, walked.amount.bytes);
        EXPECT_EQ(found->second.amount.wire, walked.amount.wire);
        EXPECT_EQ(found->second.amount.messages, walked.amount.messages);
        EXPECT_GE(found->second.message_bytes_max, walked.message_bytes_max);
        EXPECT_LE(found->second.message_bytes_max, walked.message_bytes_max + slack);
        EXPECT_EQ(found->second.message_bytes_max, stated_received.at(link).message_bytes_max);
      }
    };
    same(stated_sent);
    same(stated_received);
  }

  std::uint32_t size_;
  collective::Protocol protocol_;
  std::uint32_t credits_;
  std::uint64_t room_ = 0;
  std::map<Link, std::deque<Message>> queues_;
  std::map<Link, std::size_t> sending_lane_;
  std::map<Link, std::size_t> receiving_lane_;
};

}  // namespace rehearsal::test
