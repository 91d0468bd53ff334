#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "core/base/units.hpp"
#include "core/fault/external_command.hpp"

namespace rehearsal::fault {

/// The kinds of faults that the kernel can be asked for: what a host's policy allows one by one.
enum class FaultKind : std::uint8_t {
  rate,          ///< a cap on what an interface sends
  delay,         ///< each packet later, with jitter
  loss,          ///< a share of the packets is dropped
  duplicate,     ///< a share is sent twice
  reorder,       ///< a share is sent at once while the others are delayed
  corrupt,       ///< a share gets one wrong bit
  blackhole,     ///< all packets are dropped, the link stays up
  link_down,     ///< the interface is down
  mtu,           ///< the interface takes smaller packets than its peers send
  flow_control,  ///< the interface sends or heeds pause frames, or does not
};
inline constexpr std::array kFaultKinds = {
    FaultKind::rate,    FaultKind::delay,       FaultKind::loss,      FaultKind::duplicate,
    FaultKind::reorder, FaultKind::corrupt,     FaultKind::blackhole, FaultKind::link_down,
    FaultKind::mtu,     FaultKind::flow_control};

std::string_view to_string(FaultKind kind);

/// Which packets of an interface a fault meets.
enum class Direction : std::uint8_t { sent, received, both };
inline constexpr std::array kDirections = {Direction::sent, Direction::received, Direction::both};

std::string_view to_string(Direction direction);

/// A share of all packets, in millionths: 0 is none, 1'000'000 all.
struct Share {
  std::uint32_t millionths = 0;
  static constexpr std::uint32_t kAll = 1'000'000;
  constexpr auto operator<=>(const Share&) const = default;
};

struct RateCap {
  BitRate rate;
  bool operator==(const RateCap&) const = default;
};

/// What happens to single packets; a part that is zero does not happen.
struct Impairment {
  Duration delay{};
  Duration jitter{};
  Share loss{};
  Share duplicate{};
  Share reorder{};
  Share corrupt{};
  bool operator==(const Impairment&) const = default;
};

struct Blackhole {
  bool operator==(const Blackhole&) const = default;
};

struct LinkDown {
  bool operator==(const LinkDown&) const = default;
};

struct SmallerMtu {
  std::uint32_t mtu_bytes = 0;
  bool operator==(const SmallerMtu&) const = default;
};

/// Pause frames (IEEE 802.3 annex 31B) on or off: those that the interface sends, those that it
/// receives and heeds, or both.
struct PauseFrames {
  bool on = false;
  bool operator==(const PauseFrames&) const = default;
};

/// The last is none of the kernel's: an operator's command, for what only a switch can do. The
/// helper does none, rehearsal-external nothing else.
using Effect =
    std::variant<RateCap, Impairment, Blackhole, LinkDown, SmallerMtu, PauseFrames, ExternalCall>;

/// A fault of the kernel's own network: what, and where on this host. When, and for how long, is
/// said by whoever asks for it.
struct KernelFault {
  std::string interface;  ///< exact name; empty: an operator's command
  Direction direction = Direction::sent;
  Effect effect;
  bool operator==(const KernelFault&) const = default;
};

/// What a host lets others do to its network, as its rehearsal-helper says.
struct KernelOffer {
  bool helper = false;  ///< there is one, and it talks to the agent
  std::vector<FaultKind> faults = {};
  std::vector<std::string> interfaces = {};
  Duration duration_max{};  ///< the longest that one fault may last
  bool operator==(const KernelOffer&) const = default;
};

/// Limits of what makes sense at all, whatever a policy allows.
inline constexpr std::size_t kInterfaceNameMax = 15;  ///< IFNAMSIZ − 1
inline constexpr BitRate kRateLeast{100'000};
inline constexpr BitRate kRateMost{10'000'000'000'000};
inline constexpr Duration kDelayMost = std::chrono::seconds{10};
/// Below it the kernel takes IPv6, with its addresses, off an interface (RFC 8200).
inline constexpr std::uint32_t kMtuLeast = 1280;
inline constexpr std::uint32_t kMtuMost = 65535;

/// A fault that nobody renews is undone after at most this long.
inline constexpr Duration kLeaseMost = std::chrono::seconds{10};
inline constexpr Duration kLeaseLeast = std::chrono::milliseconds{100};
/// The longest that any policy can allow.
inline constexpr Duration kFaultDurationMost = std::chrono::hours{24};

/// Whether the values make sense and the kernel has a mechanism for that direction. The message
/// says what would be right; `unsupported` where only another place can do it.
Result<void> check(const KernelFault& fault);

constexpr bool is_external(const Effect& effect) {
  return std::holds_alternative<ExternalCall>(effect);
}

/// Whether both change the same thing, so that only one of them can be on.
bool same_target(const KernelFault& a, const KernelFault& b);

/// All kinds that a fault needs: an impairment may be several at once; of a command: none.
std::vector<FaultKind> kinds_of(const Effect& effect);

/// "rate 25Gbit/s on eth1, sent": for logs and lists.
std::string describe(const KernelFault& fault);

}  // namespace rehearsal::fault
