#include "tests/support/verbs/fake_verbs.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tests/support/allocation_counter.hpp"
#include "tests/support/verbs/device_files.hpp"
#include "tests/support/verbs/fake_state.hpp"

namespace rehearsal::test {

using namespace fake;

namespace {

FakeVerbs::State* current = nullptr;

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
  const auto& device = *static_cast<Device*>(context->device);
  port->link_layer = device.infiniband ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
  if (!device.infiniband) return 0;
  port->lid = static_cast<std::uint16_t>(kFirstLid + device.number);
  port->sm_lid = 1;
  port->flags = device.needs_grh ? IBV_QPF_GRH_REQUIRED : 0;
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
  const Uncounted uncounted;
  auto* channel = static_cast<Channel*>(base);
  if (!take_one(channel->fd)) return -1;
  *queue = channel->ready.front();
  *user = (*queue)->cq_context;
  channel->ready.pop_front();
  return 0;
}

int req_notify_cq(ibv_cq* queue, int) {
  const Uncounted uncounted;
  if (current->fails("req_notify_cq")) return errno;
  static_cast<Queue*>(queue)->notify = true;
  return 0;
}

int poll_cq(ibv_cq* base, int count, ibv_wc* entries) {
  const Uncounted uncounted;
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
  pair->ece = static_cast<Device*>(domain->context->device)->ece;
  current->pairs[pair->qp_num] = pair;
  return pair;
}

int modify_qp(ibv_qp* base, ibv_qp_attr* attributes, int mask) {
  if (current->fails("modify_qp")) return errno;
  auto* pair = static_cast<Pair*>(base);
  if ((mask & IBV_QP_DEST_QPN) != 0) pair->peer = attributes->dest_qp_num;
  if ((mask & IBV_QP_AV) != 0) pair->route = attributes->ah_attr;
  if ((mask & IBV_QP_PATH_MTU) != 0) pair->set.path_mtu = attributes->path_mtu;
  if ((mask & IBV_QP_MIN_RNR_TIMER) != 0) pair->set.min_rnr_timer = attributes->min_rnr_timer;
  if ((mask & IBV_QP_TIMEOUT) != 0) pair->set.timeout = attributes->timeout;
  if ((mask & IBV_QP_RETRY_CNT) != 0) pair->set.retry_cnt = attributes->retry_cnt;
  if ((mask & IBV_QP_RNR_RETRY) != 0) pair->set.rnr_retry = attributes->rnr_retry;
  if (attributes->qp_state == IBV_QPS_ERR)
    current->flush(*pair);
  else
    pair->state = attributes->qp_state;
  return 0;
}

int query_ece(ibv_qp* base, ibv_ece* ece) {
  if (current->fails("query_ece")) return errno;
  const auto& pair = *static_cast<Pair*>(base);
  if (!pair.ece) return EOPNOTSUPP;
  *ece = {.vendor_id = 0xfa4e, .options = *pair.ece, .comp_mask = 0};
  return 0;
}

// As providers do: what they do not have is left out, and it is decided before the pair is ready.
int set_ece(ibv_qp* base, ibv_ece* ece) {
  if (current->fails("set_ece")) return errno;
  auto& pair = *static_cast<Pair*>(base);
  if (!pair.ece) return EOPNOTSUPP;
  must(pair.state == IBV_QPS_INIT, "ECE is set in state INIT");
  must(ece->vendor_id == 0xfa4e, "ECE of this vendor");
  pair.ece = ece->options & *current->device_of(pair).ece;
  return 0;
}

int query_device_ex(ibv_context* context, ibv_device_attr_ex* device) {
  if (current->fails("query_device_ex")) return errno;
  const auto& asked = *static_cast<Device*>(context->device);
  *device = {};
  if (asked.rate_max == 0) return 0;
  device->packet_pacing_caps = {.qp_rate_limit_min = asked.rate_min,
                                .qp_rate_limit_max = asked.rate_max,
                                .supported_qpts = 1U << IBV_QPT_RC};
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
  const Uncounted uncounted;
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
  const Uncounted uncounted;
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
  api.modify_qp_rate_limit = [](ibv_qp* pair, ibv_qp_rate_limit_attr* limit) {
    if (current->fails("modify_qp_rate_limit")) return errno;
    if (pair->state == IBV_QPS_ERR) return EINVAL;
    static_cast<Pair*>(pair)->rate_limit = limit->rate_limit;
    return 0;
  };
  api.query_device_ex = query_device_ex;
  api.query_ece = query_ece;
  api.set_ece = set_ece;
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

void FakeVerbs::give_ece(std::uint32_t device, std::uint32_t options) {
  state_->devices[device - 1]->ece = options;
}
void FakeVerbs::take_ece(std::uint32_t device) { state_->devices[device - 1]->ece.reset(); }
void FakeVerbs::give_rate_limits(std::uint32_t device, std::uint32_t min, std::uint32_t max) {
  state_->devices[device - 1]->rate_min = min;
  state_->devices[device - 1]->rate_max = max;
}
void FakeVerbs::make_infiniband(std::uint32_t device, std::uint64_t subnet_prefix) {
  state_->devices[device - 1]->infiniband = true;
  write_infiniband_files(state_->folder.path(), device, subnet_prefix);
}
void FakeVerbs::require_grh(std::uint32_t device) { state_->devices[device - 1]->needs_grh = true; }
void FakeVerbs::be_without_ece_functions() {
  state_->api.query_ece = nullptr;
  state_->api.set_ece = nullptr;
}

ibv_ah_attr FakeVerbs::last_route(std::uint32_t device) const {
  ibv_ah_attr route{};
  for (const auto& [number, pair] : state_->pairs)
    if (state_->device_of(*pair).number == device && pair->qp_type == IBV_QPT_RC)
      route = pair->route;
  return route;
}
ibv_qp_attr FakeVerbs::last_attributes(std::uint32_t device) const {
  ibv_qp_attr attributes{};
  for (const auto& [number, pair] : state_->pairs)
    if (state_->device_of(*pair).number == device && pair->qp_type == IBV_QPT_RC)
      attributes = pair->set;
  return attributes;
}
std::uint32_t FakeVerbs::last_rate_limit(std::uint32_t device) const {
  std::uint32_t limit = 0;
  for (const auto& [number, pair] : state_->pairs)
    if (state_->device_of(*pair).number == device && pair->qp_type == IBV_QPT_RC)
      limit = pair->rate_limit;
  return limit;
}
std::vector<std::uint32_t> FakeVerbs::rate_limits(std::uint32_t device) const {
  std::vector<std::uint32_t> all;
  for (const auto& [number, pair] : state_->pairs)
    if (state_->device_of(*pair).number == device && pair->qp_type == IBV_QPT_RC)
      all.push_back(pair->rate_limit);
  return all;
}
std::vector<std::uint32_t> FakeVerbs::ece_in_use(std::uint32_t device) const {
  std::vector<std::uint32_t> all;
  for (const auto& [number, pair] : state_->pairs)
    if (state_->device_of(*pair).number == device && pair->qp_type == IBV_QPT_RC &&
        pair->state == IBV_QPS_RTS && pair->ece)
      all.push_back(*pair->ece);
  return all;
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
void FakeVerbs::lose_next_event() { state_->lose_event = true; }

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
