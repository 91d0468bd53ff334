#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/units.hpp"

namespace rehearsal::plan {

struct Nic;
struct Plan;

/// What kind of address a GID is. Only ports of the same kind can talk.
enum class GidType : std::uint8_t { infiniband, roce_v1, roce_v2 };
std::string_view to_string(GidType type);
std::optional<GidType> gid_type(std::string_view text);

/// One address of an RDMA port. Where it stands in the port's table is the host's own affair: an
/// index means something else on each host, and changes.
struct RdmaGid {
  GidType type = GidType::roce_v2;
  std::string address;  ///< "10.0.0.1" for an IPv4-mapped GID, else in the text form of IPv6

  bool operator==(const RdmaGid&) const = default;
};

/// What a device can limit the rate of a reliable queue pair to; both zero: it has no such limit.
struct RateLimits {
  BitRate min = {};
  BitRate max = {};

  bool any() const { return max != BitRate{}; }
  bool allow(BitRate rate) const { return any() && rate >= min && rate <= max; }
  bool operator==(const RateLimits&) const = default;
};
/// "1Mbit/s … 100Gbit/s".
std::string to_string(const RateLimits& limits);

/// One port of an RDMA device, as its agent lists it.
struct RdmaPort {
  std::string device;  ///< "mlx5_0"
  std::uint32_t port = 1;
  bool active = false;
  bool ethernet = true;   ///< RoCE; else InfiniBand
  BitRate rate = {};      ///< zero: not known
  std::uint32_t mtu = 0;  ///< active path MTU, bytes
  std::vector<RdmaGid> gids;
  RateLimits rate_limits = {};

  bool operator==(const RdmaPort&) const = default;
};

/// GIDs of one port that an agent may list.
inline constexpr std::size_t kGidsMax = 256;

/// The GID that traffic of `nic` uses: on Ethernet the one of the NIC's own data address, RoCE v2
/// before v1; on InfiniBand the port's first. An error says what the port has instead.
Result<RdmaGid> choose_gid(const Nic& nic);

/// Every NIC that the plan uses has an active RDMA port with a GID, and all GIDs are of one kind
/// and, on Ethernet, of one family; a rate limit that the drill asks for is one that each can.
Result<void> check_rdma(const Plan& plan);

}  // namespace rehearsal::plan
