#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/transport/rdma/address.hpp"
#include "agent/transport/rdma/memory.hpp"
#include "agent/transport/rdma/rdma_transport.hpp"
#include "agent/transport/rdma/verbs_objects.hpp"

namespace rehearsal::rdma {

/// Where in the port's table this GID stands now; looked up by address and type each time, because
/// the table changes. `device` is the device's folder under /sys/class/infiniband.
Result<std::uint32_t> find_gid_index(const std::filesystem::path& device, std::uint32_t port,
                                     const plan::RdmaGid& gid);

/// The verbs constant of a path MTU in bytes, and back; the largest that is not over `bytes`.
ibv_mtu mtu_constant(std::uint32_t bytes);
std::uint32_t mtu_bytes(ibv_mtu mtu);

plan::RateLimits rate_limits(const VerbsApi& api, ibv_context* context);

/// A completion queue that several queue pairs share, and how many completions it still has room
/// for: a queue that overflows is lost with all of them.
struct SharedQueue {
  CompletionQueue queue;
  std::uint32_t room = 0;
  bool armed = false;  ///< its next completion makes an event
};

/// One port of a device as the transport uses it, with what queue pairs need: protection domain,
/// registered memory, completion queues and their channel. Members are released in reverse order.
class Port {
 public:
  static Result<std::unique_ptr<Port>> open(const VerbsApi& api, const RdmaNic& nic,
                                            const RdmaOptions& options);

  /// A completion queue with room for `completions` more; they are the caller's from now on.
  Result<ibv_cq*> completion_queue(std::uint32_t completions);
  /// A new queue pair in state INIT that completes into `queue`. `inlined`: in, how many bytes are
  /// wanted inline; out, how many the device takes.
  Result<QueuePair> queue_pair(ibv_qp_type type, ibv_cq* queue, std::uint32_t sends,
                               std::uint32_t receives, std::uint32_t& inlined,
                               std::uint32_t queue_key);
  /// Who is to be reached, in the form that verbs wants it.
  ibv_ah_attr route_to(const PeerAddress& peer) const;
  /// The handle for datagrams to that port; made once.
  Result<ibv_ah*> address_handle(const PeerAddress& peer);

  std::vector<SharedQueue>& queues() noexcept { return queues_; }
  ibv_comp_channel* channel() const noexcept { return channel_.get(); }
  ibv_context* context() const noexcept { return context_.get(); }
  RegisteredArena& memory() noexcept { return *memory_; }
  const GidBytes& gid() const noexcept { return gid_; }
  std::uint16_t lid() const noexcept { return lid_; }
  bool ethernet() const noexcept { return ethernet_; }
  std::uint32_t path_mtu() const noexcept { return path_mtu_; }
  std::uint32_t active_mtu() const noexcept { return active_mtu_; }
  std::uint64_t message_bytes_max() const noexcept { return message_bytes_max_; }
  /// "rd1 port 1, GID 10.0.0.1 (RoCE v2)", for messages.
  const std::string& name() const noexcept { return name_; }

  /// The port reported an error and was not active again since.
  bool down = false;

 private:
  Port(const VerbsApi& api, const RdmaNic& nic, const RdmaOptions& options);
  Result<void> open_device();
  Result<void> look_at_port();
  Result<void> check_rates() const;
  Result<void> make_domain();
  Failure refused(std::string_view what, int error) const;

  const VerbsApi& api_;
  RdmaNic nic_;
  const plan::RdmaSettings& settings_;
  std::filesystem::path folder_;
  std::string name_;
  GidBytes gid_{};
  std::uint32_t gid_index_ = 0;
  std::uint16_t lid_ = 0;
  bool ethernet_ = true;
  bool needs_global_ = false;  ///< InfiniBand: the port wants a GRH whatever the subnet
  std::uint32_t active_mtu_ = 0;
  std::uint32_t path_mtu_ = 0;
  std::uint64_t message_bytes_max_ = 0;
  std::uint32_t completions_max_ = 0;

  DeviceContext context_;
  ProtectionDomain domain_;
  std::unique_ptr<RegisteredArena> memory_;
  CompletionChannel channel_;
  std::vector<SharedQueue> queues_;
  std::map<std::pair<GidBytes, std::uint16_t>, AddressHandle> handles_;
};

}  // namespace rehearsal::rdma
