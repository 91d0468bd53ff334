#include "agent/transport/rdma/greeter.hpp"

#include <cerrno>
#include <cstring>

namespace rehearsal::rdma {
namespace {

constexpr std::uint64_t kSendMark = std::uint64_t{1} << 32;

Failure refused(const Port& port, std::string_view what, int error) {
  return system_failure(ErrorSource::transport,
                        "[REHEARSAL-RDMA-003] " + port.name() + ": " + std::string(what), error);
}

}  // namespace

Result<std::unique_ptr<Greeter>> Greeter::open(const VerbsApi& api, Port& port) {
  std::unique_ptr<Greeter> greeter(new Greeter(api, port));
  greeter->buffer_bytes_ = port.active_mtu() + kHeader;
  ASSIGN_OR_RETURN(greeter->received_,
                   port.memory().take(std::size_t{greeter->buffer_bytes_} * kReceives));
  ASSIGN_OR_RETURN(greeter->sent_,
                   port.memory().take(std::size_t{greeter->buffer_bytes_} * 2 * kSends));
  RETURN_IF_ERROR(greeter->make_queue());
  RETURN_IF_ERROR(greeter->make_lane(kShort, kReceives));
  RETURN_IF_ERROR(greeter->make_lane(kFull, 1));
  for (std::uint32_t i = 0; i < kReceives; ++i)
    if (!greeter->post_receive(i)) return refused(port, "cannot post a receive", errno);
  return greeter;
}

Result<void> Greeter::make_queue() {
  queue_ = CompletionQueue(
      api_, api_.create_cq(port_.context(), kReceives + 2 * kSends, this, port_.channel(), 0));
  if (!queue_) return refused(port_, "cannot make a completion queue", errno);
  return {};
}

Greeter::~Greeter() {
  for (Lane& lane : lanes_) put_into_error(lane);
}

void Greeter::put_into_error(Lane& lane) noexcept {
  if (!lane.pair) return;
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  api_.modify_qp(lane.pair.get(), &attributes, IBV_QP_STATE);
}

Result<void> Greeter::make_lane(std::size_t lane, std::uint32_t receives) {
  Lane& made = lanes_[lane];
  RETURN_IF_ERROR(make_pair(made, receives));
  for (std::uint32_t i = 0; i < kSends; ++i)
    made.free_sends.push_back(static_cast<std::uint32_t>(lane) * kSends + i);
  return {};
}

Result<void> Greeter::make_pair(Lane& lane, std::uint32_t receives) {
  std::uint32_t inlined = 0;
  ASSIGN_OR_RETURN(
      lane.pair, port_.queue_pair(IBV_QPT_UD, queue_.get(), kSends, receives, inlined, queue_key_));
  return make_ready(lane.pair.get());
}

Result<void> Greeter::make_ready(ibv_qp* pair) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  if (const int error = api_.modify_qp(pair, &attributes, IBV_QP_STATE); error != 0)
    return refused(port_, "cannot move a datagram queue pair to RTR", error);
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = 0;
  if (const int error = api_.modify_qp(pair, &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN); error != 0)
    return refused(port_, "cannot move a datagram queue pair to RTS", error);
  return {};
}

bool Greeter::post_receive(std::uint32_t buffer) noexcept {
  ibv_sge place{.addr = received_.address() + std::uint64_t{buffer} * buffer_bytes_,
                .length = buffer_bytes_,
                .lkey = received_.local_key};
  ibv_recv_wr request{.wr_id = buffer, .next = nullptr, .sg_list = &place, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
  return api_.post_recv(lanes_[kShort].pair.get(), &request, &bad) == 0;
}

bool Greeter::usable(Lane& lane, Instant now) noexcept {
  const bool idle = lane.free_sends.size() == kSends;
  if (lane.done != lane.done_seen || (idle && !lane.broken)) lane.moved = now;
  lane.done_seen = lane.done;
  if (!lane.broken) {
    if (now - lane.moved < kStandsStill) return !lane.free_sends.empty();
    put_into_error(lane);
    lane.broken = true;
    return false;
  }
  // What was under way has come back flushed.
  if (!idle || now - lane.moved < kRest) return false;
  lane.pair.reset();
  lane.broken = !make_pair(lane, 1);
  return !lane.broken;
}

void Greeter::send(const Greeting& greeting, ibv_ah* handle, std::uint32_t queue_pair,
                   std::uint32_t queue_key, Instant now) noexcept {
  Lane& lane = lanes_[greeting.size > kGreetingSmall ? kFull : kShort];
  if (!usable(lane, now)) return;
  const std::uint32_t buffer = lane.free_sends.back();
  std::byte* data = sent_.data + std::size_t{buffer} * buffer_bytes_;
  std::memcpy(data, &greeting, sizeof greeting);
  ibv_sge place{.addr = reinterpret_cast<std::uintptr_t>(data),
                .length = greeting.size,
                .lkey = sent_.local_key};
  ibv_send_wr request{};
  request.wr_id = kSendMark | buffer;
  request.sg_list = &place;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.ud.ah = handle;
  request.wr.ud.remote_qpn = queue_pair;
  request.wr.ud.remote_qkey = queue_key;
  ibv_send_wr* bad = nullptr;
  if (api_.post_send(lane.pair.get(), &request, &bad) == 0) lane.free_sends.pop_back();
}

std::optional<Greeting> Greeter::receive() noexcept {
  ibv_wc completion{};
  while (api_.poll_cq(queue_.get(), 1, &completion) > 0) {
    const auto buffer = static_cast<std::uint32_t>(completion.wr_id);
    if ((completion.wr_id & kSendMark) != 0) {
      Lane& lane = lanes_[buffer / kSends];
      lane.free_sends.push_back(buffer);
      ++lane.done;
      continue;
    }
    if (completion.status != IBV_WC_SUCCESS) continue;  // flushed: the queue pair is going
    Greeting greeting;
    std::memcpy(&greeting, received_.data + std::size_t{buffer} * buffer_bytes_ + kHeader,
                sizeof greeting);
    const bool whole = completion.byte_len >= kHeader + kGreetingSmall &&
                       greeting.magic == Greeting::kMagic &&
                       greeting.size == completion.byte_len - kHeader;
    post_receive(buffer);
    if (whole) return greeting;
  }
  return std::nullopt;
}

}  // namespace rehearsal::rdma
