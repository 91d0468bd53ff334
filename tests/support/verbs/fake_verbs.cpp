#include "tests/support/verbs/fake_verbs.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <set>

#include "core/base/check.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/verbs/device_files.hpp"

namespace rehearsal::test {
namespace {

constexpr std::uint32_t kDatagramHeader = 40;

struct Device : ibv_device {
  std::uint32_t number = 0;
  bool down = false;
  bool deaf = false;
};
struct Context : ibv_context {
  std::deque<ibv_async_event> events;
};
struct Channel : ibv_comp_channel {
  std::deque<ibv_cq*> ready;
};
struct Queue : ibv_cq {
  std::deque<ibv_wc> entries;
  bool notify = false;
};
struct Receive {
  std::uint64_t id = 0;
  std::optional<ibv_sge> place;
};
struct Handle : ibv_ah {
  ibv_ah_attr route{};
};
struct Pair : ibv_qp {
  ibv_qp_cap limits{};
  std::deque<Receive> receives;
  std::uint32_t peer = 0;
  ibv_gid peer_gid{};
  std::uint32_t sends_pending = 0;  // not completed, or completed without a completion
  bool stuck = false;
  std::vector<std::uint64_t> stuck_sends;  // wr_id
};
struct Send {
  Pair* pair = nullptr;
  ibv_send_wr request{};
  std::optional<ibv_sge> place;
  std::vector<std::byte> inlined;
};

void raise(int descriptor) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(descriptor, &one, sizeof one);
}
bool take_one(int descriptor) {
  std::uint64_t one = 0;
  return ::read(descriptor, &one, sizeof one) == sizeof one;
}

}  // namespace

struct FakeVerbs::State {
  struct Fault {
    int error = 0;
    int skip = 0;
  };

  TemporaryFolder folder;
  rdma::VerbsApi api;
  std::vector<std::unique_ptr<Device>> devices;
  std::map<std::string, Fault> faults;
  std::map<std::string, std::size_t> calls;
  std::size_t objects = 0;
  std::set<Context*> contexts;
  std::map<std::uint32_t, Pair*> pairs;
  std::map<std::uint32_t, ibv_mr*> regions;  // by key
  std::uint32_t next_number = 17;
  std::uint32_t next_key = 1;
  std::deque<Send> held;
  bool holding = false;
  std::uint32_t wire_bytes = ~0U;
  bool repeats_refused = false;
  std::optional<ibv_wc_status> next_status;
  bool damage = false;

  void fill_table();
  /// Counts a call; true if it has to fail, with errno set.
  bool fails(const char* verb);
  Device& device_of(const Pair& pair) { return *static_cast<Device*>(pair.context->device); }
  Device* device_at(const ibv_gid& gid);

  void push(ibv_cq* queue, const ibv_wc& entry);
  void flush(Pair& pair);
  void perform(Send& send);
  void perform_datagram(Send& send);
  ibv_wc_status deliver(Send& send, Pair& peer);
  void finish(Send& send, ibv_wc_status status);
  std::size_t bytes(const Send& send) const { return send.place ? send.place->length : 0; }
  const std::byte* data(const Send& send) const {
    return send.inlined.empty() ? reinterpret_cast<const std::byte*>(send.place->addr)
                                : send.inlined.data();
  }
  void report(std::uint32_t device, ibv_event_type type);
};

namespace {

FakeVerbs::State* current = nullptr;

void must(bool condition, const char* what) { CHECK(condition, what); }

}  // namespace

bool FakeVerbs::State::fails(const char* verb) {
  ++calls[verb];
  const auto fault = faults.find(verb);
  if (fault == faults.end()) return false;
  if (fault->second.skip-- > 0) return false;
  errno = fault->second.error;
  faults.erase(fault);
  return true;
}

Device* FakeVerbs::State::device_at(const ibv_gid& gid) {
  for (const auto& device : devices)
    if (gid.raw[10] == 0xff && gid.raw[15] == device->number) return device.get();
  return nullptr;
}

void FakeVerbs::State::push(ibv_cq* queue, const ibv_wc& entry) {
  auto* into = static_cast<Queue*>(queue);
  must(into->entries.size() < static_cast<std::size_t>(into->cqe), "a completion queue overflows");
  into->entries.push_back(entry);
  if (!into->notify) return;
  into->notify = false;
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
  const ibv_gid gid = static_cast<Handle*>(to.ah)->route.grh.dgid;
  const auto found = pairs.find(to.remote_qpn);
  Device* target = device_at(gid);
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
                         device_at(send.pair->peer_gid) == &device_of(*found->second) &&
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

namespace {

template <typename Object>
Object* made(const char* verb) {
  if (current->fails(verb)) return nullptr;
  ++current->objects;
  return new Object{};
}

template <typename Object, typename Base>
int released(const char* verb, Base* object) {
  if (current->fails(verb)) return errno;
  --current->objects;
  delete static_cast<Object*>(object);
  return 0;
}

ibv_context* open_device(ibv_device* device) {
  auto* context = made<Context>("open_device");
  if (context == nullptr) return nullptr;
  context->device = device;
  context->async_fd = ::eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
  current->contexts.insert(context);
  return context;
}

int close_device(ibv_context* base) {
  auto* context = static_cast<Context*>(base);
  ::close(context->async_fd);
  current->contexts.erase(context);
  return released<Context>("close_device", base);
}

int query_port(ibv_context* context, std::uint8_t, ibv_port_attr* port) {
  if (current->fails("query_port")) return errno;
  *port = {};
  port->state = static_cast<Device*>(context->device)->down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE;
  port->active_mtu = IBV_MTU_1024;
  port->max_msg_sz = 1U << 23;
  port->link_layer = IBV_LINK_LAYER_ETHERNET;
  return 0;
}

ibv_mr* reg_mr(ibv_pd* domain, void* memory, std::size_t size, int) {
  auto* region = made<ibv_mr>("reg_mr");
  if (region == nullptr) return nullptr;
  region->pd = domain;
  region->addr = memory;
  region->length = size;
  region->lkey = region->rkey = current->next_key++;
  current->regions[region->rkey] = region;
  return region;
}

int dereg_mr(ibv_mr* region) {
  current->regions.erase(region->rkey);
  return released<ibv_mr>("dereg_mr", region);
}

ibv_comp_channel* create_comp_channel(ibv_context* context) {
  auto* channel = made<Channel>("create_comp_channel");
  if (channel == nullptr) return nullptr;
  channel->context = context;
  channel->fd = ::eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
  return channel;
}

int destroy_comp_channel(ibv_comp_channel* channel) {
  ::close(channel->fd);
  return released<Channel>("destroy_comp_channel", channel);
}

ibv_cq* create_cq(ibv_context* context, int size, void* user, ibv_comp_channel* channel, int) {
  auto* queue = made<Queue>("create_cq");
  if (queue == nullptr) return nullptr;
  queue->context = context;
  queue->channel = channel;
  queue->cq_context = user;
  queue->cqe = size;
  return queue;
}

int get_cq_event(ibv_comp_channel* base, ibv_cq** queue, void** user) {
  auto* channel = static_cast<Channel*>(base);
  if (!take_one(channel->fd)) return -1;
  *queue = channel->ready.front();
  *user = (*queue)->cq_context;
  channel->ready.pop_front();
  return 0;
}

int req_notify_cq(ibv_cq* queue, int) {
  if (current->fails("req_notify_cq")) return errno;
  static_cast<Queue*>(queue)->notify = true;
  return 0;
}

int poll_cq(ibv_cq* base, int count, ibv_wc* entries) {
  auto& queue = static_cast<Queue*>(base)->entries;
  int taken = 0;
  while (taken < count && !queue.empty()) {
    entries[taken++] = queue.front();
    queue.pop_front();
  }
  return taken;
}

ibv_qp* create_qp(ibv_pd* domain, ibv_qp_init_attr* wanted) {
  auto* pair = made<Pair>("create_qp");
  if (pair == nullptr) return nullptr;
  pair->context = domain->context;
  pair->pd = domain;
  pair->send_cq = wanted->send_cq;
  pair->recv_cq = wanted->recv_cq;
  pair->qp_type = wanted->qp_type;
  pair->state = IBV_QPS_RESET;
  pair->limits = wanted->cap;
  pair->qp_num = current->next_number++;
  current->pairs[pair->qp_num] = pair;
  return pair;
}

int modify_qp(ibv_qp* base, ibv_qp_attr* attributes, int mask) {
  if (current->fails("modify_qp")) return errno;
  auto* pair = static_cast<Pair*>(base);
  if ((mask & IBV_QP_DEST_QPN) != 0) pair->peer = attributes->dest_qp_num;
  if ((mask & IBV_QP_AV) != 0) pair->peer_gid = attributes->ah_attr.grh.dgid;
  if (attributes->qp_state == IBV_QPS_ERR)
    current->flush(*pair);
  else
    pair->state = attributes->qp_state;
  return 0;
}

int destroy_qp(ibv_qp* pair) {
  must(!static_cast<Pair*>(pair)->stuck, "nobody waits for a queue pair that repeats for ever");
  current->pairs.erase(pair->qp_num);
  return released<Pair>("destroy_qp", pair);
}

ibv_ah* create_ah(ibv_pd*, ibv_ah_attr* route) {
  auto* handle = made<Handle>("create_ah");
  if (handle != nullptr) handle->route = *route;
  return handle;
}

int post_send(ibv_qp* base, ibv_send_wr* request, ibv_send_wr** bad) {
  *bad = request;
  if (current->fails("post_send")) return errno;
  auto* pair = static_cast<Pair*>(base);
  std::deque<Send> batch;
  for (; request != nullptr; request = request->next) {
    must(++pair->sends_pending <= pair->limits.max_send_wr, "a send queue overflows");
    Send send{.pair = pair, .request = *request, .place = std::nullopt, .inlined = {}};
    if (request->num_sge > 0) send.place = *request->sg_list;
    if ((request->send_flags & IBV_SEND_INLINE) != 0) {
      must(send.place->length <= pair->limits.max_inline_data, "too much for inline");
      const auto* data = reinterpret_cast<const std::byte*>(send.place->addr);
      send.inlined.assign(data, data + send.place->length);
    }
    batch.push_back(std::move(send));
  }
  for (Send& send : batch) {
    if (current->holding)
      current->held.push_back(std::move(send));
    else
      current->perform(send);
  }
  return 0;
}

int post_recv(ibv_qp* base, ibv_recv_wr* request, ibv_recv_wr** bad) {
  *bad = request;
  if (current->fails("post_recv")) return errno;
  auto* pair = static_cast<Pair*>(base);
  for (; request != nullptr; request = request->next) {
    must(pair->receives.size() < pair->limits.max_recv_wr, "a receive queue overflows");
    Receive receive{.id = request->wr_id, .place = std::nullopt};
    if (request->num_sge > 0) receive.place = *request->sg_list;
    pair->receives.push_back(receive);
  }
  return 0;
}

int get_async_event(ibv_context* base, ibv_async_event* event) {
  auto* context = static_cast<Context*>(base);
  if (!take_one(context->async_fd)) return -1;
  *event = context->events.front();
  context->events.pop_front();
  return 0;
}

}  // namespace

void FakeVerbs::State::fill_table() {
  api.get_device_list = [](int* count) -> ibv_device** {
    if (current->fails("get_device_list")) return nullptr;
    *count = static_cast<int>(current->devices.size());
    auto** list = new ibv_device*[current->devices.size() + 1];
    for (std::size_t i = 0; i < current->devices.size(); ++i) list[i] = current->devices[i].get();
    ++current->objects;
    return list;
  };
  api.free_device_list = [](ibv_device** list) {
    --current->objects;
    delete[] list;
  };
  api.get_device_name = [](ibv_device* device) -> const char* { return device->name; };
  api.open_device = open_device;
  api.close_device = close_device;
  api.query_device = [](ibv_context*, ibv_device_attr* device) {
    if (current->fails("query_device")) return errno;
    *device = {};
    device->max_cqe = 8192;
    return 0;
  };
  api.query_port = query_port;
  api.query_gid = [](ibv_context*, std::uint8_t, int, ibv_gid*) { return ENOSYS; };
  api.alloc_pd = [](ibv_context* context) {
    auto* domain = made<ibv_pd>("alloc_pd");
    if (domain != nullptr) domain->context = context;
    return domain;
  };
  api.dealloc_pd = [](ibv_pd* domain) { return released<ibv_pd>("dealloc_pd", domain); };
  api.reg_mr = reg_mr;
  api.dereg_mr = dereg_mr;
  api.create_comp_channel = create_comp_channel;
  api.destroy_comp_channel = destroy_comp_channel;
  api.create_cq = create_cq;
  api.destroy_cq = [](ibv_cq* queue) { return released<Queue>("destroy_cq", queue); };
  api.get_cq_event = get_cq_event;
  api.ack_cq_events = [](ibv_cq*, unsigned) {};
  api.req_notify_cq = req_notify_cq;
  api.poll_cq = poll_cq;
  api.create_qp = create_qp;
  api.modify_qp = modify_qp;
  api.modify_qp_rate_limit = [](ibv_qp*, ibv_qp_rate_limit_attr*) {
    return current->fails("modify_qp_rate_limit") ? errno : 0;
  };
  api.destroy_qp = destroy_qp;
  api.create_ah = create_ah;
  api.destroy_ah = [](ibv_ah* handle) { return released<Handle>("destroy_ah", handle); };
  api.post_send = post_send;
  api.post_recv = post_recv;
  api.get_async_event = get_async_event;
  api.ack_async_event = [](ibv_async_event*) {};
}

FakeVerbs::FakeVerbs(std::uint32_t devices) : state_(std::make_unique<State>()) {
  must(current == nullptr, "one fake at a time");
  current = state_.get();
  for (std::uint32_t i = 1; i <= devices; ++i) {
    auto device = std::make_unique<Device>();
    std::snprintf(device->name, sizeof device->name, "fake%u", i);
    device->number = i;
    state_->devices.push_back(std::move(device));
    write_device_files(state_->folder.path(), i);
  }
  state_->fill_table();
}

FakeVerbs::~FakeVerbs() { current = nullptr; }

const rdma::VerbsApi& FakeVerbs::api() const { return state_->api; }
const std::filesystem::path& FakeVerbs::devices() const { return state_->folder.path(); }

rdma::RdmaOptions FakeVerbs::options(std::uint32_t device) const {
  const std::string number = std::to_string(device);
  return {
      .verbs = &state_->api,
      .nics = {rdma::RdmaNic{.device = "fake" + number, .gid = {.address = "10.0.0." + number}}},
      .token = "token",
      .devices = devices()};
}

void FakeVerbs::fail(const std::string& verb, int error, int skip) {
  state_->faults[verb] = {.error = error, .skip = skip};
}
void FakeVerbs::hold() { state_->holding = true; }
void FakeVerbs::release() {
  state_->holding = false;
  std::deque<Send> held = std::move(state_->held);
  state_->held.clear();
  for (Send& send : held) state_->perform(send);
}
void FakeVerbs::end_next_send_with(ibv_wc_status status) { state_->next_status = status; }
void FakeVerbs::limit_wire(std::uint32_t bytes) { state_->wire_bytes = bytes; }
void FakeVerbs::repeat_what_the_wire_refuses() { state_->repeats_refused = true; }
void FakeVerbs::deafen(std::uint32_t device) { state_->devices[device - 1]->deaf = true; }
void FakeVerbs::take_down(std::uint32_t device) {
  state_->devices[device - 1]->down = true;
  state_->report(device, IBV_EVENT_PORT_ERR);
}
void FakeVerbs::bring_up(std::uint32_t device) {
  state_->devices[device - 1]->down = false;
  state_->report(device, IBV_EVENT_PORT_ACTIVE);
}
void FakeVerbs::break_device(std::uint32_t device) {
  state_->report(device, IBV_EVENT_DEVICE_FATAL);
}
void FakeVerbs::damage_next_write() { state_->damage = true; }

std::size_t FakeVerbs::objects() const { return state_->objects; }
std::size_t FakeVerbs::calls(const std::string& verb) const {
  const auto found = state_->calls.find(verb);
  return found == state_->calls.end() ? 0 : found->second;
}
std::size_t FakeVerbs::queue_pairs_in(ibv_qp_state state) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      state_->pairs, [&](const auto& entry) { return entry.second->state == state; }));
}

}  // namespace rehearsal::test
