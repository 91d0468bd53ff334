// Messages: completions that come in, lanes that move, requests that go out.

#include "core/base/check.hpp"
#include "core/replay/replayer_state.hpp"

namespace rehearsal::replay {

using collective::receives;
using collective::sends;

void Replayer::State::take(const Completion& completion, Instant now) noexcept {
  const std::uint32_t index = links.by_connection(completion.connection);
  if (index == kNoIndex) return;
  Link& link = links[index];
  switch (completion.kind) {
    case Completion::Kind::connected:
      if (!link.connected) ++links_connected;
      link.connected = true;
      break;
    case Completion::Kind::received:
      if (!link.outgoing) arrived(index, completion, now);
      break;
    case Completion::Kind::sent:
      if (link.outgoing) was_sent(link, completion, now);
      break;
    case Completion::Kind::credit:
      if (!link.outgoing) break;
      if (link.credits == link.credits_max) return fail(index, "a credit too many");
      ++link.credits;
      meter.credited(link, now);
      wake(link, now);
      break;
    case Completion::Kind::failed:
      fail(index, completion.reason);
      break;
  }
}

void Replayer::State::arrived(std::uint32_t index, const Completion& completion,
                              Instant now) noexcept {
  Link& link = links[index];
  if (completion.sequence != link.next_sequence) return fail(index, "a message out of order");
  if (link.arrived == link.credits_max) return fail(index, "a message without a credit");
  links.push_size(link, completion.bytes);
  ++link.arrived;
  meter.arrived(link, completion.bytes, now);
  ++link.next_sequence;
  if (!link.local) {
    counters.received += Bytes{completion.bytes};
    ++counters.messages_received;
  }
  wake(link, now);
}

void Replayer::State::was_sent(Link& link, const Completion& completion, Instant now) noexcept {
  CHECK(link.stream != kNoIndex, "sent what was never posted");
  Stream& stream = streams[link.stream];
  CHECK(stream.busy, "an op that ended with messages under way");
  CHECK(stream.unsent > 0, "more messages sent than posted");
  --stream.unsent;
  (link.local ? counters.local : counters.sent) += Bytes{completion.bytes};
  if (!link.local) ++counters.messages_sent;
  if (stream.unsent == 0 && stream.lanes_left == 0) complete_communication(stream, now);
}

void Replayer::State::wake(Link& link, Instant now) noexcept {
  if (link.waiting_lane == kNoIndex) return;
  meter.moves(link, now);
  queue_lane(link.waiting_lane);
  link.waiting_lane = kNoIndex;
}

void Replayer::State::queue_lane(std::uint32_t lane) noexcept {
  if (lanes[lane].queued) return;
  lanes[lane].queued = true;
  runnable.push(lane);
}

void Replayer::State::run_lane(std::uint32_t index, Instant now) noexcept {
  Lane& lane = lanes[index];
  while (prepare_step(lane)) {
    const std::uint32_t blocking = blocking_link(lane);
    if (blocking != kNoIndex) {
      links[blocking].waiting_lane = index;
      meter.stands(links[blocking], now);
      return;
    }
    do_step(lane, now);
    if (failure) return;
  }
  Stream& stream = streams[lane.stream];
  if (--stream.lanes_left == 0 && stream.unsent == 0) complete_communication(stream, now);
}

/// Has a step to do, its links looked up; false at the end of the lane.
bool Replayer::State::prepare_step(Lane& lane) noexcept {
  if (lane.has_step) return true;
  if (!lane.cursor.next(lane.step)) return false;
  lane.has_step = true;
  const collective::Step& step = lane.step;
  const Program::Op& op = program.ops[streams[lane.stream].op];
  const auto& ranks = program.profile->communicators[op.communicator.value].ranks;
  if (receives(step.action) && lane.from != step.from) {
    lane.from = step.from;
    lane.from_link = links.find(op.communicator, op.use, false, ranks[step.from], step.channel);
    CHECK(lane.from_link != kNoIndex, "a step from a peer without a connection");
  }
  if (sends(step.action) && lane.to != step.to) {
    lane.to = step.to;
    lane.to_link = links.find(op.communicator, op.use, true, ranks[step.to], step.channel);
    CHECK(lane.to_link != kNoIndex, "a step to a peer without a connection");
  }
  return true;
}

/// Ops of different slices share a connection, and each keeps to its own credits.
bool Replayer::State::may_send(const Lane& lane) const noexcept {
  const Link& link = links[lane.to_link];
  const std::uint32_t limit = program.ops[streams[lane.stream].op].credits;
  return link.credits > 0 && link.credits_max - link.credits < limit;
}

/// The link that the lane's step has to wait for, or kNoIndex.
std::uint32_t Replayer::State::blocking_link(const Lane& lane) const noexcept {
  if (receives(lane.step.action) && links[lane.from_link].arrived == 0) return lane.from_link;
  if (sends(lane.step.action) && !may_send(lane)) return lane.to_link;
  return kNoIndex;
}

void Replayer::State::do_step(Lane& lane, Instant now) noexcept {
  const collective::Step& step = lane.step;
  lane.has_step = false;
  if (receives(step.action) && links.front_size(links[lane.from_link]) != step.wire)
    return fail(lane.from_link, "a message of another size than expected");
  if (sends(step.action)) {
    Link& link = links[lane.to_link];
    meter.posted(link, step.wire, now);
    --link.credits;
    link.stream = lane.stream;
    ++streams[lane.stream].unsent;
    requests.push({.kind = Request::Kind::send,
                   .connection = link.connection,
                   .sequence = link.next_sequence++,
                   .bytes = step.wire});
  }
  if (receives(step.action)) {
    // The slot is free only now: what a fused step passes on comes out of it.
    Link& link = links[lane.from_link];
    --link.arrived;
    meter.consumed(link, now);
    requests.push({.kind = Request::Kind::release,
                   .connection = link.connection,
                   .sequence = link.next_consumed++,
                   .bytes = step.wire});
  }
}

void Replayer::State::fail(std::uint32_t link, std::string_view reason) noexcept {
  if (failure) return;
  failure = ReplayFailure{reason, links[link].connection, links[link].peer};
  requests.clear();
}

}  // namespace rehearsal::replay
