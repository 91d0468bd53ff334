#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "agent/transport/rdma/state.hpp"
#include "agent/transport/stamp.hpp"
#include "core/base/check.hpp"

namespace rehearsal::rdma {
namespace {

/// wr_id: what kind of request, whose queue pair, and for sends the count of requests posted with
/// it.
constexpr std::uint64_t kReceiveMark = std::uint64_t{1} << 63;

constexpr std::uint64_t request_id(std::uint32_t pair_number, std::uint32_t count) {
  return (std::uint64_t{pair_number} << 32) | count;
}

// The NIC writes it: only the index is waited for, and nothing else of the entry is needed.
std::uint64_t index_of(ClearToSend& entry) noexcept {
  return std::atomic_ref<std::uint64_t>(entry.index).load(std::memory_order_acquire);
}

}  // namespace

std::size_t RdmaTransport::post(std::span<const replay::Request> requests, Instant) noexcept {
  std::size_t taken = 0;
  while (taken < requests.size() && state_->stage(requests[taken])) ++taken;
  state_->flush();
  return taken;
}

bool RdmaTransport::State::stage(const replay::Request& request) noexcept {
  CHECK(request.connection.value < connections.size(), "a request on an unknown connection");
  Connection& connection = connections[request.connection.value];
  if (connection.phase == Phase::failed || connection.phase == Phase::aborted) return true;
  CHECK(connection.phase == Phase::ready, "a request on a connection that is not ready");
  if (!has_room(connection.pairs.size(), connection.pairs.size())) flush();
  return request.kind == replay::Request::Kind::send ? stage_send(connection, request)
                                                     : stage_release(connection, request);
}

bool RdmaTransport::State::has_room(std::size_t sends, std::size_t receives) const noexcept {
  return sends_staged + sends <= kStagedMax && receives_staged + receives <= kStagedMax;
}

bool RdmaTransport::State::stage_send(Connection& connection,
                                      const replay::Request& request) noexcept {
  CHECK(connection.outgoing, "a send on the receiving end");
  CHECK(request.sequence == connection.next_send, "a send out of order");
  CHECK(request.bytes <= connection.spec.message_bytes_max, "a message over its size");
  if (connection.next_send - connection.next_sent >= connection.window) return false;
  CHECK(connection.next_send - connection.credits_back < connection.spec.credits,
        "a send without a credit");
  const std::uint64_t sequence = connection.next_send++;
  const std::size_t place = sequence % connection.window;
  connection.bytes_of[place] = request.bytes;
  if (options.verify_payload)
    agent::Stamp(connection.identity, sequence, request.bytes)
        .write(connection.source.data + place * connection.source_stride, request.bytes);
  const auto pairs = static_cast<std::uint32_t>(connection.pairs.size());
  if (pairs == 1 || options.settings.queue_pair_use == plan::QueuePairUse::round_robin) {
    connection.parts_left[place] = 1;
    stage_part(connection, connection.pair_of(sequence), sequence, 0, request.bytes, request.bytes);
  } else {
    connection.parts_left[place] = pairs;
    const std::uint64_t share = (request.bytes + pairs - 1) / pairs;
    const std::uint64_t each = (share + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
    for (std::uint32_t i = 0; i < pairs; ++i) {
      const std::uint64_t begin = std::min(i * each, request.bytes);
      const std::uint64_t end = std::min(begin + each, request.bytes);
      stage_part(connection, i, sequence, begin, end - begin, request.bytes);
    }
  }
  watch(connection);
  return true;
}

void RdmaTransport::State::stage_part(Connection& connection, std::uint32_t pair,
                                      std::uint64_t sequence, std::uint64_t offset,
                                      std::uint64_t part, std::uint64_t whole) noexcept {
  ibv_send_wr& request = next_send_request(connection, pair);
  ibv_sge& place = *request.sg_list;
  place.addr = connection.source.address() +
               (sequence % connection.window) * connection.source_stride + offset;
  place.length = static_cast<std::uint32_t>(part);
  place.lkey = connection.source.local_key;
  request.num_sge = part == 0 ? 0 : 1;
  request.imm_data = htonl(static_cast<std::uint32_t>(whole));
  if (part > 0 && part <= connection.inline_max) {
    request.send_flags = IBV_SEND_INLINE;
    ++statistics.inlined;
  }
  if (options.settings.operation == plan::RdmaOperation::send) {
    request.opcode = IBV_WR_SEND_WITH_IMM;
  } else {
    request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    request.wr.rdma.remote_addr = connection.peer.memory +
                                  (sequence % connection.spec.credits) * connection.peer.stride +
                                  offset;
    request.wr.rdma.rkey = connection.peer.remote_key;
  }
  connection.order[pair].push(sequence);
}

bool RdmaTransport::State::stage_release(Connection& connection,
                                         const replay::Request& request) noexcept {
  CHECK(!connection.outgoing, "a release on the sending end");
  CHECK(request.sequence == connection.released, "a release out of order");
  CHECK(request.sequence < connection.next_received, "a release of what was not received");
  const Pair& first = connection.pairs[0];
  if (first.sent + first.staged - first.done >= first.sends_max) return false;
  ++connection.released;
  // The receive that serves this slot's next message stands before the sender is told.
  const std::uint64_t next = request.sequence + connection.spec.credits;
  if (options.settings.queue_pair_use == plan::QueuePairUse::split) {
    for (std::uint32_t i = 0; i < connection.pairs.size(); ++i) stage_receive(connection, i, next);
  } else {
    stage_receive(connection, connection.pair_of(next), next);
  }
  stage_clear_to_send(connection, request.sequence);
  return true;
}

void RdmaTransport::State::stage_clear_to_send(Connection& connection,
                                               std::uint64_t sequence) noexcept {
  const std::size_t slot = sequence % connection.spec.credits;
  const RegisteredPiece& entries = connection.own_clear_to_sends;
  auto* entry = reinterpret_cast<ClearToSend*>(entries.data) + slot;
  entry->address = connection.landing.address() + slot * connection.landing_stride;
  entry->size = connection.spec.message_bytes_max;
  entry->remote_keys[0] = connection.landing.remote_key;
  entry->requests = 1;
  entry->index = sequence + 1;
  ibv_send_wr& request = next_send_request(connection, 0);
  *request.sg_list = {.addr = reinterpret_cast<std::uintptr_t>(entry),
                      .length = sizeof(ClearToSend),
                      .lkey = entries.local_key};
  request.num_sge = 1;
  if (connection.inline_max >= sizeof(ClearToSend)) request.send_flags = IBV_SEND_INLINE;
  request.opcode = polls() ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_WRITE_WITH_IMM;
  request.imm_data = htonl(static_cast<std::uint32_t>(sequence));
  request.wr.rdma.remote_addr = connection.peer.memory + slot * sizeof(ClearToSend);
  request.wr.rdma.rkey = connection.peer.remote_key;
}

void RdmaTransport::State::stage_receive(Connection& connection, std::uint32_t pair,
                                         std::uint64_t sequence) noexcept {
  Pair& on = connection.pairs[pair];
  const std::size_t index = receives_staged++;
  ibv_recv_wr& request = receive_requests[index];
  ibv_sge& place = places[kStagedMax + index];
  request = {.wr_id = kReceiveMark | request_id(on.number, 0),
             .next = nullptr,
             .sg_list = &place,
             .num_sge = 0};
  if (!connection.outgoing && options.settings.operation == plan::RdmaOperation::send) {
    place = {.addr = connection.landing.address() +
                     (sequence % connection.spec.credits) * connection.landing_stride,
             .length = static_cast<std::uint32_t>(connection.spec.message_bytes_max),
             .lkey = connection.landing.local_key};
    request.num_sge = 1;
  }
  if (on.receives_first == nullptr) on.receives_first = &request;
  if (on.receives_last != nullptr) on.receives_last->next = &request;
  on.receives_last = &request;
  mark_dirty(connection, pair);
}

ibv_send_wr& RdmaTransport::State::next_send_request(Connection& connection,
                                                     std::uint32_t pair) noexcept {
  Pair& on = connection.pairs[pair];
  const std::size_t index = sends_staged++;
  ibv_send_wr& request = send_requests[index];
  ++on.staged;
  request.wr_id = request_id(on.number, on.sent + on.staged);
  request.next = nullptr;
  request.sg_list = &places[index];
  request.send_flags = 0;
  if (on.staged_first == nullptr) on.staged_first = &request;
  if (on.staged_last != nullptr) on.staged_last->next = &request;
  on.staged_last = &request;
  mark_dirty(connection, pair);
  return request;
}

void RdmaTransport::State::mark_dirty(Connection& connection, std::uint32_t pair) noexcept {
  Pair& on = connection.pairs[pair];
  if (on.dirty) return;
  on.dirty = true;
  dirty.emplace_back(connection.spec.index.value, pair);
}

void RdmaTransport::State::flush() noexcept {
  for (const auto& [connection, pair] : dirty)
    flush(connections[connection], connections[connection].pairs[pair]);
  dirty.clear();
  sends_staged = 0;
  receives_staged = 0;
}

// One call, one doorbell, for all that is staged on a queue pair; the last send of them has a
// completion that stands for all (clear-to-sends: one in a few, nobody waits for them).
void RdmaTransport::State::flush(Connection& connection, Pair& pair) noexcept {
  int error = 0;
  const bool alive = connection.phase != Phase::failed && connection.phase != Phase::aborted;
  if (pair.receives_first != nullptr && alive) {
    ibv_recv_wr* bad = nullptr;
    ++statistics.receive_posts;
    error = api->post_recv(pair.pair.get(), pair.receives_first, &bad);
  }
  if (pair.staged_first != nullptr && alive && error == 0) {
    pair.unsignalled += pair.staged;
    if (connection.outgoing || pair.unsignalled * 2 >= connection.spec.credits) {
      pair.staged_last->send_flags |= IBV_SEND_SIGNALED;
      pair.unsignalled = 0;
      ++statistics.signalled;
    }
    ibv_send_wr* bad = nullptr;
    ++statistics.send_posts;
    statistics.send_requests += pair.staged;
    error = api->post_send(pair.pair.get(), pair.staged_first, &bad);
    pair.sent += pair.staged;
  }
  pair.receives_first = pair.receives_last = nullptr;
  pair.staged_first = pair.staged_last = nullptr;
  pair.staged = 0;
  pair.dirty = false;
  if (error != 0) fail_to_post(connection, pair, error);
}

std::size_t RdmaTransport::poll(std::span<replay::Completion> completions, Instant now) noexcept {
  State& state = *state_;
  state.turn = now;
  if (state.completions.empty()) {
    const bool events = state.armed && state.take_channel_events();
    if (events) state.armed = false;
    state.take_completions();
    state.look_for_credits();
    if (events || state.setting_up > 0) state.hear_all();
    state.continue_greeting(now);
    if (now >= state.next_housekeeping) state.housekeep(now);
    if (state.completions.empty() && !state.polls() && !state.armed && state.arm()) {
      state.take_completions();  // what came before the queues were armed makes no event
      state.hear_all();
    }
  }
  std::size_t count = 0;
  while (count < completions.size() && !state.completions.empty())
    completions[count++] = state.completions.pop();
  return count;
}

std::size_t RdmaTransport::State::take_completions() noexcept {
  std::array<ibv_wc, kPollBatch> batch;
  std::size_t total = 0;
  for (PortInUse& used : ports) {
    if (used.port == nullptr) continue;
    for (const SharedQueue& shared : used.port->queues()) {
      for (int round = 0; round < kPollRounds; ++round) {
        const int count = api->poll_cq(shared.queue.get(), kPollBatch, batch.data());
        for (int i = 0; i < count; ++i) take(batch[static_cast<std::size_t>(i)]);
        if (count > 0) total += static_cast<std::size_t>(count);
        if (count < kPollBatch) break;
      }
    }
  }
  flush();  // receives for further clear-to-sends
  statistics.completions += total;
  return total;
}

void RdmaTransport::State::take(const ibv_wc& completion) noexcept {
  const bool receive = (completion.wr_id & kReceiveMark) != 0;
  const auto number = static_cast<std::uint32_t>((completion.wr_id & ~kReceiveMark) >> 32);
  const PairPlace place = pairs_by_number[number];
  Connection& connection = connections[place.connection];
  // What is on its way when an end aborts or fails comes back flushed.
  if (connection.phase == Phase::failed || connection.phase == Phase::aborted) return;
  if (completion.status != IBV_WC_SUCCESS) return fail_request(connection, place.pair, completion);
  Pair& pair = connection.pairs[place.pair];
  if (!receive) {
    const auto count = static_cast<std::uint32_t>(completion.wr_id);
    const std::uint32_t more = count - pair.done;
    pair.done = count;
    if (connection.outgoing) on_sent(connection, place.pair, more);
  } else if (connection.outgoing) {
    if (!has_room(0, 1)) flush();
    stage_receive(connection, 0, 0);
    on_credit(connection);
  } else {
    on_arrival(connection, place.pair, ntohl(completion.imm_data));
  }
}

void RdmaTransport::State::on_sent(Connection& connection, std::uint32_t pair,
                                   std::uint32_t count) noexcept {
  for (std::uint32_t i = 0; i < count; ++i)
    --connection.parts_left[connection.order[pair].pop() % connection.window];
  while (connection.next_sent < connection.next_send &&
         connection.parts_left[connection.next_sent % connection.window] == 0) {
    const std::uint64_t bytes = connection.bytes_of[connection.next_sent % connection.window];
    ++statistics.messages_sent;
    statistics.payload_sent += bytes;
    if (!options.meters.empty())
      options.meters[connection.port].count_sent(connection.spec, turn, bytes);
    complete({.kind = Completion::Kind::sent,
              .connection = connection.spec.index,
              .sequence = connection.next_sent++,
              .bytes = bytes});
  }
}

void RdmaTransport::State::on_arrival(Connection& connection, std::uint32_t pair,
                                      std::uint32_t bytes) noexcept {
  if (connection.phase == Phase::greeting) {
    // Only who heard and was heard sends: the greeting that says so is late, or lost.
    connection.heard_full = connection.peer_heard_full = true;
    become_ready(connection);
  }
  const std::uint64_t nth = connection.pairs[pair].arrived++;
  const bool split = options.settings.queue_pair_use == plan::QueuePairUse::split;
  const std::uint64_t sequence = split ? nth : nth * connection.pairs.size() + pair;
  const std::size_t slot = sequence % connection.spec.credits;
  if (sequence >= connection.released + connection.spec.credits ||
      bytes > connection.spec.message_bytes_max || connection.parts_missing[slot] == 0)
    return fail_protocol(connection, "a message came that was not cleared to be sent");
  connection.size_of[slot] = bytes;
  --connection.parts_missing[slot];
  deliver(connection);
}

void RdmaTransport::State::deliver(Connection& connection) noexcept {
  const std::uint32_t parts = options.settings.queue_pair_use == plan::QueuePairUse::split
                                  ? static_cast<std::uint32_t>(connection.pairs.size())
                                  : 1;
  while (connection.next_received < connection.released + connection.spec.credits) {
    const std::size_t slot = connection.next_received % connection.spec.credits;
    if (connection.parts_missing[slot] != 0) return;
    const std::uint64_t bytes = connection.size_of[slot];
    if (options.verify_payload) {
      const agent::Stamp stamp(connection.identity, connection.next_received, bytes);
      if (!stamp.matches(connection.landing.data + slot * connection.landing_stride, bytes))
        return fail_payload(connection);
      statistics.payload_verified += bytes;
    }
    connection.parts_missing[slot] = parts;
    ++statistics.messages_received;
    if (!options.meters.empty())
      options.meters[connection.port].count_received(connection.spec, turn, bytes);
    complete({.kind = Completion::Kind::received,
              .connection = connection.spec.index,
              .sequence = connection.next_received++,
              .bytes = bytes});
  }
}

void RdmaTransport::State::on_credit(Connection& connection) noexcept {
  if (connection.credits_back >= connection.next_send)
    return fail_protocol(connection, "a clear-to-send came for what was never sent");
  ++connection.credits_back;
  complete({.kind = Completion::Kind::credit, .connection = connection.spec.index});
}

void RdmaTransport::State::watch(Connection& connection) noexcept {
  if (!polls() || connection.watched) return;
  connection.watched = true;
  watched.push_back(connection.spec.index.value);
}

void RdmaTransport::State::look_for_credits() noexcept {
  for (std::size_t i = 0; i < watched.size();) {
    Connection& connection = connections[watched[i]];
    auto* entries = reinterpret_cast<ClearToSend*>(connection.clear_to_sends.data);
    while (connection.phase == Phase::ready && connection.credits_back < connection.next_send &&
           index_of(entries[connection.credits_back % connection.spec.credits]) ==
               connection.credits_back + 1)
      on_credit(connection);
    if (connection.phase == Phase::ready && connection.credits_back < connection.next_send) {
      ++i;
      continue;
    }
    connection.watched = false;
    watched[i] = watched.back();
    watched.pop_back();
  }
}

replay::Wakeup RdmaTransport::wakeup() const noexcept {
  const State& state = *state_;
  if (!state.completions.empty()) return {.file_descriptor = state.epoll, .deadline = kAtOnce};
  if (state.polls()) return {.file_descriptor = -1, .deadline = kAtOnce};
  return {.file_descriptor = state.epoll, .deadline = state.next_greeting};
}

void RdmaTransport::abort(ConnectionIndex index) noexcept {
  if (index.value >= state_->connections.size()) return;
  Connection& connection = state_->connections[index.value];
  if (connection.phase == Phase::greeting) --state_->setting_up;
  connection.phase = Phase::aborted;
  state_->silence(connection);
}

}  // namespace rehearsal::rdma
