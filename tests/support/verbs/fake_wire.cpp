#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/check.hpp"
#include "tests/support/verbs/fake_state.hpp"

namespace rehearsal::test {

using namespace fake;

void fake::raise(int descriptor) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(descriptor, &one, sizeof one);
}
bool fake::take_one(int descriptor) {
  std::uint64_t one = 0;
  return ::read(descriptor, &one, sizeof one) == sizeof one;
}
void fake::must(bool condition, const char* what) { CHECK(condition, what); }

bool FakeVerbs::State::fails(const char* verb) {
  ++calls[verb];
  const auto fault = faults.find(verb);
  if (fault == faults.end()) return false;
  if (fault->second.skip-- > 0) return false;
  errno = fault->second.error;
  faults.erase(fault);
  return true;
}

Device* FakeVerbs::State::device_at(const ibv_ah_attr& route) {
  const ibv_gid& gid = route.grh.dgid;
  for (const auto& device : devices) {
    if (device->infiniband
            ? route.dlid == kFirstLid + device->number
            : route.is_global == 1 && gid.raw[10] == 0xff && gid.raw[15] == device->number)
      return device.get();
  }
  return nullptr;
}

void FakeVerbs::State::push(ibv_cq* queue, const ibv_wc& entry) {
  auto* into = static_cast<Queue*>(queue);
  must(into->entries.size() < static_cast<std::size_t>(into->cqe), "a completion queue overflows");
  into->entries.push_back(entry);
  if (!into->notify) return;
  into->notify = false;
  if (std::exchange(lose_event, false)) return;
  auto* channel = static_cast<Channel*>(into->channel);
  channel->ready.push_back(into);
  raise(channel->fd);
}

void FakeVerbs::State::flush(Pair& pair) {
  pair.state = IBV_QPS_ERR;
  for (const Receive& receive : pair.receives) {
    ibv_wc entry{};
    entry.wr_id = receive.id;
    entry.status = IBV_WC_WR_FLUSH_ERR;
    entry.qp_num = pair.qp_num;
    push(pair.recv_cq, entry);
  }
  pair.receives.clear();
  for (const std::uint64_t id : pair.stuck_sends) {
    ibv_wc entry{};
    entry.wr_id = id;
    entry.status = IBV_WC_WR_FLUSH_ERR;
    push(pair.send_cq, entry);
  }
  pair.sends_pending -= static_cast<std::uint32_t>(pair.stuck_sends.size());
  pair.stuck_sends.clear();
  pair.stuck = false;
}

void FakeVerbs::State::finish(Send& send, ibv_wc_status status) {
  ibv_wc entry{};
  entry.wr_id = send.request.wr_id;
  entry.status = status;
  entry.qp_num = send.pair->qp_num;
  const bool signalled = (send.request.send_flags & IBV_SEND_SIGNALED) != 0;
  if (signalled || status != IBV_WC_SUCCESS) {
    push(send.pair->send_cq, entry);
    send.pair->sends_pending = 0;  // what came before on this queue pair is done with it
  }
  if (status != IBV_WC_SUCCESS && status != IBV_WC_WR_FLUSH_ERR) flush(*send.pair);
}

ibv_wc_status FakeVerbs::State::deliver(Send& send, Pair& peer) {
  const ibv_send_wr& request = send.request;
  const bool writes =
      request.opcode == IBV_WR_RDMA_WRITE || request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  const bool consumes = request.opcode != IBV_WR_RDMA_WRITE;
  if (consumes && peer.receives.empty()) return IBV_WC_RNR_RETRY_EXC_ERR;
  std::byte* target = nullptr;
  if (writes && bytes(send) > 0) {
    const auto region = regions.find(request.wr.rdma.rkey);
    const std::uint64_t begin = request.wr.rdma.remote_addr;
    if (region == regions.end()) return IBV_WC_REM_ACCESS_ERR;
    const auto base = reinterpret_cast<std::uintptr_t>(region->second->addr);
    if (begin < base || begin + bytes(send) > base + region->second->length)
      return IBV_WC_REM_ACCESS_ERR;
    target = reinterpret_cast<std::byte*>(begin);
  } else if (!writes && bytes(send) > 0) {
    const Receive& receive = peer.receives.front();
    if (!receive.place || receive.place->length < bytes(send)) return IBV_WC_REM_INV_REQ_ERR;
    target = reinterpret_cast<std::byte*>(receive.place->addr);
  }
  if (target != nullptr) {
    std::memcpy(target, data(send), bytes(send));
    if (damage && bytes(send) != 64) target[0] ^= std::byte{1}, damage = false;
  }
  if (!consumes) return IBV_WC_SUCCESS;
  ibv_wc entry{};
  entry.wr_id = peer.receives.front().id;
  entry.status = IBV_WC_SUCCESS;
  entry.opcode = writes ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
  entry.byte_len = static_cast<std::uint32_t>(bytes(send));
  entry.imm_data = request.imm_data;
  entry.wc_flags = IBV_WC_WITH_IMM;
  entry.qp_num = peer.qp_num;
  peer.receives.pop_front();
  push(peer.recv_cq, entry);
  return IBV_WC_SUCCESS;
}

void FakeVerbs::State::perform_datagram(Send& send) {
  send.pair->stuck |= repeats_refused && bytes(send) > wire_bytes;
  if (send.pair->stuck) return send.pair->stuck_sends.push_back(send.request.wr_id);
  const auto& to = send.request.wr.ud;
  const auto found = pairs.find(to.remote_qpn);
  Device* target = device_at(static_cast<Handle*>(to.ah)->route);
  const bool arrives = found != pairs.end() && target != nullptr && !target->down &&
                       !target->deaf && !device_of(*send.pair).down &&
                       &device_of(*found->second) == target && bytes(send) <= wire_bytes &&
                       !found->second->receives.empty();
  if (arrives) {
    Pair& peer = *found->second;
    const Receive receive = peer.receives.front();
    peer.receives.pop_front();
    must(receive.place->length >= bytes(send) + kDatagramHeader, "a datagram has room");
    std::memcpy(reinterpret_cast<std::byte*>(receive.place->addr) + kDatagramHeader, data(send),
                bytes(send));
    ibv_wc entry{};
    entry.wr_id = receive.id;
    entry.byte_len = static_cast<std::uint32_t>(bytes(send) + kDatagramHeader);
    push(peer.recv_cq, entry);
  }
  finish(send, IBV_WC_SUCCESS);
}

void FakeVerbs::State::perform(Send& send) {
  if (!pairs.contains(send.pair->qp_num)) return;
  if (send.pair->state == IBV_QPS_ERR) return finish(send, IBV_WC_WR_FLUSH_ERR);
  if (send.pair->qp_type == IBV_QPT_UD) return perform_datagram(send);
  if (next_status) {
    const ibv_wc_status status = *next_status;
    next_status.reset();
    return finish(send, status);
  }
  const auto found = pairs.find(send.pair->peer);
  const bool reachable = found != pairs.end() && found->second->state >= IBV_QPS_RTR &&
                         found->second->state != IBV_QPS_ERR &&
                         found->second->peer == send.pair->qp_num &&
                         device_at(send.pair->route) == &device_of(*found->second) &&
                         !device_of(*found->second).down && !device_of(*send.pair).down;
  finish(send, reachable ? deliver(send, *found->second) : IBV_WC_RETRY_EXC_ERR);
}

void FakeVerbs::State::report(std::uint32_t device, ibv_event_type type) {
  for (Context* context : contexts) {
    if (static_cast<Device*>(context->device)->number != device) continue;
    ibv_async_event event{};
    event.event_type = type;
    event.element.port_num = 1;
    context->events.push_back(event);
    raise(context->async_fd);
  }
}

}  // namespace rehearsal::test
