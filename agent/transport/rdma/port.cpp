#include "agent/transport/rdma/port.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "agent/host/device_files.hpp"
#include "core/base/text.hpp"

namespace rehearsal::rdma {
namespace {

constexpr std::uint32_t kQueueSize = 4096;
/// A port's table has at most so many rows that are looked at.
constexpr std::uint32_t kGidRowsMax = 1024;

using agent::first_line;

// What the kernel's gid_attrs/types files say.
std::string_view kernel_word(plan::GidType type) {
  return type == plan::GidType::roce_v2 ? "RoCE v2" : "IB/RoCE v1";
}

bool set_nonblocking(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && ::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0;
}

std::uint16_t two_bytes(const GidBytes& gid, std::size_t at) {
  return static_cast<std::uint16_t>(gid[at] << 8 | gid[at + 1]);
}
// InfiniBand: what tells subnets apart, and the LID by which routers carry packets to another one
// (FLID; zero: none), both within the subnet prefix, as NCCL reads them (src/transport/net_ib).
std::uint16_t subnet_of(const GidBytes& gid) { return two_bytes(gid, 6); }
std::uint16_t router_lid(const GidBytes& gid) { return two_bytes(gid, 4); }

std::string_view state_text(ibv_port_state state) {
  switch (state) {
    case IBV_PORT_DOWN:
      return "down";
    case IBV_PORT_INIT:
      return "initialising (no subnet manager?)";
    case IBV_PORT_ARMED:
      return "armed";
    case IBV_PORT_ACTIVE:
      return "active";
    default:
      return "not usable";
  }
}

}  // namespace

Result<std::uint32_t> find_gid_index(const std::filesystem::path& device, std::uint32_t port,
                                     const plan::RdmaGid& gid) {
  const auto folder = device / "ports" / std::to_string(port);
  ASSIGN_OR_RETURN(const GidBytes wanted, parse_gid(gid.address));
  for (std::uint32_t row = 0; row < kGidRowsMax; ++row) {
    const std::string file = std::to_string(row);
    const std::string text = first_line(folder / "gids" / file);
    if (text.empty()) break;
    const auto found = parse_gid(text);
    if (!found || *found != wanted) continue;
    // The kernel lists no type for InfiniBand and for rows that are being filled.
    const std::string type = first_line(folder / "gid_attrs" / "types" / file);
    if (type == kernel_word(gid.type)) return row;
    if (gid.type == plan::GidType::infiniband && type.empty()) return row;
  }
  return fail(ErrorCode::not_found, ErrorSource::transport,
              "[REHEARSAL-RDMA-006] " + device.filename().string() + " port " +
                  std::to_string(port) + " has no GID " + gid.address + " (" +
                  std::string(to_string(gid.type)) +
                  ") now; has the address of its network interface changed?");
}

ibv_mtu mtu_constant(std::uint32_t bytes) {
  if (bytes >= 4096) return IBV_MTU_4096;
  if (bytes >= 2048) return IBV_MTU_2048;
  if (bytes >= 1024) return IBV_MTU_1024;
  return bytes >= 512 ? IBV_MTU_512 : IBV_MTU_256;
}

std::uint32_t mtu_bytes(ibv_mtu mtu) { return 128U << static_cast<std::uint32_t>(mtu); }

plan::RateLimits rate_limits(const VerbsApi& api, ibv_context* context) {
  ibv_device_attr_ex device{};
  if (api.query_device_ex(context, &device) != 0) return {};
  const ibv_packet_pacing_caps& caps = device.packet_pacing_caps;
  if ((caps.supported_qpts & (1U << IBV_QPT_RC)) == 0) return {};
  constexpr std::uint64_t kBitsOfUnit = 1000;  // kbit/s
  return {.min = BitRate{caps.qp_rate_limit_min * kBitsOfUnit},
          .max = BitRate{caps.qp_rate_limit_max * kBitsOfUnit}};
}

Port::Port(const VerbsApi& api, const RdmaNic& nic, const RdmaOptions& options)
    : api_(api),
      nic_(nic),
      settings_(options.settings),
      folder_(options.devices / nic.device),
      name_(nic.device + " port " + std::to_string(nic.port) + ", GID " + nic.gid.address + " (" +
            std::string(to_string(nic.gid.type)) + ")") {}

Failure Port::refused(std::string_view what, int error) const {
  return system_failure(ErrorSource::transport,
                        "[REHEARSAL-RDMA-003] " + name_ + ": " + std::string(what), error);
}

Result<std::unique_ptr<Port>> Port::open(const VerbsApi& api, const RdmaNic& nic,
                                         const RdmaOptions& options) {
  std::unique_ptr<Port> port(new Port(api, nic, options));
  RETURN_IF_ERROR(port->open_device());
  RETURN_IF_ERROR(port->look_at_port());
  RETURN_IF_ERROR(port->check_rates());
  ASSIGN_OR_RETURN(port->gid_index_, find_gid_index(port->folder_, nic.port, nic.gid));
  ASSIGN_OR_RETURN(port->gid_, parse_gid(nic.gid.address));
  RETURN_IF_ERROR(port->make_domain());
  return port;
}

Result<void> Port::open_device() {
  int count = 0;
  ibv_device** devices = api_.get_device_list(&count);
  if (devices == nullptr) return refused("cannot list the RDMA devices", errno);
  std::string others;
  ibv_device* found = nullptr;
  for (int i = 0; i < count; ++i) {
    const std::string name = api_.get_device_name(devices[i]);
    if (name == nic_.device) found = devices[i];
    others += (others.empty() ? "" : ", ") + name;
  }
  int error = 0;
  if (found != nullptr) {
    context_ = DeviceContext(api_, api_.open_device(found));
    error = errno;
  }
  api_.free_device_list(devices);
  if (found == nullptr) {
    return fail(ErrorCode::not_found, ErrorSource::transport,
                "[REHEARSAL-RDMA-002] there is no RDMA device " + nic_.device +
                    "; this host has: " + (others.empty() ? "none" : others));
  }
  if (!context_) return refused("cannot open the device", error);
  if (!set_nonblocking(context_->async_fd)) return refused("cannot watch its events", errno);
  return {};
}

Result<void> Port::look_at_port() {
  ibv_device_attr device{};
  if (const int error = api_.query_device(context_.get(), &device); error != 0)
    return refused("cannot query the device", error);
  ibv_port_attr port{};
  if (const int error =
          api_.query_port(context_.get(), static_cast<std::uint8_t>(nic_.port), &port);
      error != 0)
    return refused("cannot query the port", error);
  if (port.state != IBV_PORT_ACTIVE) {
    return fail(ErrorCode::refused, ErrorSource::transport,
                "[REHEARSAL-RDMA-005] " + name_ + ": the port is " +
                    std::string(state_text(port.state)) + "; right would be active");
  }
  lid_ = port.lid;
  ethernet_ = port.link_layer == IBV_LINK_LAYER_ETHERNET;
  needs_global_ = (port.flags & IBV_QPF_GRH_REQUIRED) != 0;
  active_mtu_ = mtu_bytes(port.active_mtu);
  path_mtu_ = settings_.path_mtu == 0 ? active_mtu_ : std::min(settings_.path_mtu, active_mtu_);
  // Some providers of compatible interfaces leave the size out.
  message_bytes_max_ = port.max_msg_sz == 0 ? std::uint64_t{1} << 30 : port.max_msg_sz;
  completions_max_ = static_cast<std::uint32_t>(std::max(device.max_cqe, 1));
  return {};
}

Result<void> Port::check_rates() const {
  if (settings_.rate_limit == BitRate{} && nic_.rates.empty()) return {};
  const plan::RateLimits can = rate_limits(api_, context_.get());
  const auto check = [&](BitRate wanted, const std::string& who, const std::string& right) {
    if (can.allow(wanted)) return Result<void>{};
    return Result<void>(
        fail(ErrorCode::unsupported, ErrorSource::transport,
             "[REHEARSAL-RDMA-003] " + name_ +
                 (can.any() ? ": the device limits a queue pair to " + to_string(can)
                            : ": the device takes no rate limit of a queue pair (RC)") +
                 ", " + who + " asks for " + format_bit_rate_exact(wanted) + "; right would be " +
                 right));
  };
  if (settings_.rate_limit != BitRate{})
    RETURN_IF_ERROR(check(settings_.rate_limit, "the drill", "a drill without rate_limit"));
  for (const BitRate rate : nic_.rates)
    RETURN_IF_ERROR(check(rate, "a fault", "the fault with mechanism: sender"));
  return {};
}

Result<void> Port::make_domain() {
  domain_ = ProtectionDomain(api_, api_.alloc_pd(context_.get()));
  if (!domain_) return refused("cannot make a protection domain", errno);
  memory_ = std::make_unique<RegisteredArena>(api_, domain_.get());
  if (settings_.completions == plan::CompletionMode::poll) return {};
  channel_ = CompletionChannel(api_, api_.create_comp_channel(context_.get()));
  if (!channel_) return refused("cannot make a completion channel", errno);
  if (!set_nonblocking(channel_->fd)) return refused("cannot watch completions", errno);
  return {};
}

Result<ibv_cq*> Port::completion_queue(std::uint32_t completions) {
  for (SharedQueue& shared : queues_) {
    if (shared.room < completions) continue;
    shared.room -= completions;
    return shared.queue.get();
  }
  const std::uint32_t size = std::max(completions, std::min(kQueueSize, completions_max_));
  if (size > completions_max_) {
    return fail(ErrorCode::unsupported, ErrorSource::transport,
                "[REHEARSAL-RDMA-003] " + name_ + ": a connection needs room for " +
                    std::to_string(completions) + " completions, the device has " +
                    std::to_string(completions_max_) + "; right would be fewer credits");
  }
  CompletionQueue queue(
      api_, api_.create_cq(context_.get(), static_cast<int>(size), this, channel_.get(), 0));
  if (!queue) return refused("cannot make a completion queue", errno);
  queues_.push_back({.queue = std::move(queue), .room = size - completions});
  return queues_.back().queue.get();
}

Result<QueuePair> Port::queue_pair(ibv_qp_type type, ibv_cq* queue, std::uint32_t sends,
                                   std::uint32_t receives, std::uint32_t& inlined,
                                   std::uint32_t queue_key) {
  ibv_qp_init_attr wanted{};
  wanted.send_cq = queue;
  wanted.recv_cq = queue;
  wanted.cap = {.max_send_wr = sends,
                .max_recv_wr = receives,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = inlined};
  wanted.qp_type = type;
  QueuePair pair(api_, api_.create_qp(domain_.get(), &wanted));
  if (!pair && inlined > 0) {  // a device that cannot inline so much refuses the whole
    wanted.cap.max_inline_data = 0;
    pair = QueuePair(api_, api_.create_qp(domain_.get(), &wanted));
  }
  if (!pair) return refused("cannot make a queue pair", errno);
  inlined = wanted.cap.max_inline_data;
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.pkey_index = 0;
  attributes.port_num = static_cast<std::uint8_t>(nic_.port);
  attributes.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  attributes.qkey = queue_key;
  const int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                   (type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
  if (const int error = api_.modify_qp(pair.get(), &attributes, mask); error != 0)
    return refused("cannot move a queue pair to INIT", error);
  return pair;
}

ibv_ah_attr Port::route_to(const PeerAddress& peer) const {
  ibv_ah_attr route{};
  const bool other_subnet = !ethernet_ && subnet_of(peer.gid) != subnet_of(gid_);
  const std::uint16_t router = router_lid(peer.gid);
  route.dlid = other_subnet && router != 0 ? router : peer.lid;
  route.sl = static_cast<std::uint8_t>(settings_.service_level);
  route.port_num = static_cast<std::uint8_t>(nic_.port);
  route.is_global = ethernet_ || other_subnet || needs_global_ ? 1 : 0;
  std::memcpy(route.grh.dgid.raw, peer.gid.data(), peer.gid.size());
  route.grh.sgid_index = static_cast<std::uint8_t>(gid_index_);
  route.grh.flow_label = settings_.flow_label;
  route.grh.hop_limit = static_cast<std::uint8_t>(settings_.hop_limit);
  route.grh.traffic_class = static_cast<std::uint8_t>(settings_.traffic_class);
  return route;
}

Result<ibv_ah*> Port::address_handle(const PeerAddress& peer) {
  const std::pair key(peer.gid, peer.lid);
  if (const auto found = handles_.find(key); found != handles_.end()) return found->second.get();
  ibv_ah_attr route = route_to(peer);
  AddressHandle handle(api_, api_.create_ah(domain_.get(), &route));
  if (!handle) {
    return system_failure(ErrorSource::transport,
                          "[REHEARSAL-RDMA-009] " + name_ + ": no way to GID " +
                              gid_text(peer.gid) + " (neighbour or route not found)",
                          errno);
  }
  return handles_.emplace(key, std::move(handle)).first->second.get();
}

}  // namespace rehearsal::rdma
