#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/units.hpp"
#include "core/fault/external_command.hpp"
#include "core/fault/fraction.hpp"

namespace rehearsal::fault {

/// What can be wrong. The first group acts on messages, the second on a rank's compute or on the
/// agent, the third only the kernel can do, the fourth makes traffic beside the jobs'.
enum class Kind : std::uint8_t {
  rate,       ///< a NIC carries only a part of its rate
  delay,      ///< each message later by a time
  loss,       ///< a share of messages is held back as if the network had sent them again
  blackhole,  ///< nothing passes until it is over
  straggler,  ///< compute takes longer
  pause,      ///< a rank does nothing until it is over
  crash,      ///< the agent ends as if it had been killed
  duplicate,
  reorder,
  corrupt,
  link_down,
  mtu,
  incast,        ///< many hosts send to one at once
  background,    ///< flows to or from a NIC take a part of it
  flow_control,  ///< a NIC sends or heeds pause frames otherwise than it should; only the kernel
  external,      ///< a command of the operator's own, for what only a switch can do
};
inline constexpr Kind kKindLast = Kind::external;
std::string_view to_string(Kind kind);

/// Acts on messages of a NIC.
constexpr bool is_of_messages(Kind kind) { return kind <= Kind::blackhole; }
/// Acts on what a rank computes.
constexpr bool is_of_compute(Kind kind) { return kind == Kind::straggler || kind == Kind::pause; }
/// Only the kernel can do it.
constexpr bool is_of_kernel(Kind kind) {
  return (kind >= Kind::duplicate && kind <= Kind::mtu) || kind == Kind::flow_control;
}
/// Makes traffic of its own, beside that of the jobs.
constexpr bool makes_traffic(Kind kind) { return kind == Kind::incast || kind == Kind::background; }

/// Bounds of what a drill may ask for.
inline constexpr std::size_t kLevelsMax = 64;
inline constexpr Duration kLengthMax = std::chrono::hours{168};
inline constexpr Duration kDelayMax = std::chrono::seconds{60};

/// How bad it is. A fault has one level, or several that follow one another in equal parts of its
/// time; which member counts is for its kind to say, the others are zero.
struct Level {
  Fraction rate = {};         ///< rate: what is left of it; of traffic: so much of `of`
  Duration delay{0};          ///< delay: of each message
  Fraction share = {};        ///< loss, duplicate, reorder, corrupt: of messages
  Fraction compute = {};      ///< straggler: of the planned time
  std::uint32_t mtu = 0;      ///< mtu: bytes
  BitRate traffic = {};       ///< of traffic, instead of `rate`; both zero: as fast as it goes
  bool pause_frames = false;  ///< flow_control: whether there are any

  bool operator==(const Level&) const = default;
};

struct What {
  Kind kind = Kind::rate;
  std::vector<Level> levels = {};
  BitRate of = {};     ///< rate, traffic: the rate that levels are parts of; zero: the line rate
  Duration jitter{0};  ///< delay: up to so much more, drawn for each message
  Duration retransmission{0};  ///< loss: how long a lost message is held back
  Bytes message = {};          ///< of traffic: of each message
  std::uint32_t credits = 0;   ///< of traffic: messages of a flow that may be under way
  ExternalCall call = {};      ///< external: which command, with what
  /// external, of a plan: the longest that doing or undoing it may take on one of its hosts; zero:
  /// not known.
  Duration command_time{0};

  bool operator==(const What&) const = default;
};

/// Which messages of a NIC.
enum class Side : std::uint8_t { sent, received, both };
inline constexpr Side kSideLast = Side::both;
std::string_view to_string(Side side);

/// Where, by names. One of `hosts`, `share`, `ranks` and `communicator` picks the hosts; all that
/// is given narrows what is hit there.
struct Where {
  std::vector<std::string> hosts = {};
  Fraction share = {};   ///< of the drill's hosts, drawn by the seed
  std::string job = {};  ///< only this one; with ranks and communicator
  std::vector<std::uint32_t> ranks = {};
  std::string communicator = {};
  std::vector<std::string> nics = {};  ///< empty: all that the drill uses
  std::optional<std::uint32_t> rail = {};
  std::vector<std::string> peers = {};  ///< only messages to and from these hosts: flows
  Side side = Side::both;

  bool operator==(const Where&) const = default;
};

/// Who does it.
enum class Mechanism : std::uint8_t {
  sender,    ///< inside our own sending and receiving; real for any transport, gone with the agent
  kernel,    ///< the host's network, by rehearsal-helper, journalled and leased
  device,    ///< RDMA devices, by the rate limits of queue pairs; gone with the agent
  external,  ///< an operator's command, by rehearsal-external, journalled and leased
};
inline constexpr Mechanism kMechanismLast = Mechanism::external;
std::string_view to_string(Mechanism mechanism);
/// Outlives the agent: done by a program beside it, which journals it and undoes it by its lease.
constexpr bool is_kept(Mechanism mechanism) {
  return mechanism == Mechanism::kernel || mechanism == Mechanism::external;
}

/// From when, for how long, how often. Times count from the run's first start.
struct When {
  std::optional<std::uint32_t> iteration = {};  ///< begins at the start of this one …
  std::string phase = {};                       ///< … or of this phase in it
  Duration after{0};                            ///< begins then; without `iteration`
  Duration length{0};            ///< ends at the latest so long after it began: its deadline
  std::uint32_t iterations = 0;  ///< ends at the start of the iteration so many later; zero: no
  /// Within its time it is on and off in turn; zero: always on.
  Duration on{0};
  Duration off{0};
  std::uint32_t on_iterations = 0;
  std::uint32_t off_iterations = 0;

  bool operator==(const When&) const = default;
  bool repeats() const { return on > Duration::zero() || on_iterations != 0; }
};

/// A fault as an operator asks for it: what, where, when.
struct Fault {
  std::string name = {};
  What what = {};
  Where where = {};
  When when = {};
  /// Nothing: whichever can do it: the devices where all of them can, then the agent, then the
  /// kernel.
  std::optional<Mechanism> mechanism = {};

  bool operator==(const Fault&) const = default;
};

/// One thing that a fault hits, on one host. What is not given is not asked for. Of traffic: one
/// flow, to (`received`) or from (`sent`) this NIC, with `peer` at the other end.
struct Place {
  HostIndex host = {};
  Side side = Side::both;
  std::optional<NicIndex> nic = {};
  std::optional<JobIndex> job = {};
  std::optional<Rank> rank = {};
  std::optional<CommunicatorIndex> communicator = {};
  std::optional<HostIndex> peer = {};

  bool operator==(const Place&) const = default;
};

/// A fault made concrete.
struct PlannedFault {
  std::string name = {};
  What what = {};
  When when = {};
  std::uint32_t phase = 0;           ///< index of when.phase in its job's profile
  std::optional<JobIndex> job = {};  ///< whose iterations count; nothing: of any on the host
  std::vector<Place> places = {};    ///< ordered by host
  Mechanism mechanism = Mechanism::sender;
  std::uint64_t seed = 0;  ///< of what is drawn for each message

  bool operator==(const PlannedFault&) const = default;
};

/// "rate 50%, 25% of 400Mbit/s", "delay 20ms, jitter 2ms": for people.
std::string describe(const What& what);
/// "from iteration 10, 5 iterations, at most 30s; 1s on, 2s off".
std::string describe(const When& when);

}  // namespace rehearsal::fault
