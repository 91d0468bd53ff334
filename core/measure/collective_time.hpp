#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/encoding.hpp"
#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/measure/histogram.hpp"
#include "core/profile/op.hpp"
#include "core/profile/profile.hpp"

namespace rehearsal::measure {

/// The time of a collective is, per instance, the minimum over its ranks of (done − ready): ranks
/// become ready at different instants, but the last one ready waits for nobody. It needs no common
/// clock. Agents reduce what their ranks saw to partials (AgentReducer), the coordinator merges the
/// partials of all agents (InstanceTable).

/// Collectives that make one line of a report.
struct CollectiveClass {
  JobIndex job = {};
  profile::OpKind kind = profile::OpKind::all_reduce;  ///< a send and its recv: send
  CommunicatorIndex communicator = {};
  Bytes bytes = {};  ///< S as nccl-tests counts it (class_bytes)

  constexpr auto operator<=>(const CollectiveClass&) const = default;
};

/// S of an op: Op::bytes; for an all_to_all with per-peer sizes the largest send buffer of a rank.
Bytes class_bytes(const profile::Profile& profile, const profile::Op& op);

/// One collective of one iteration, or one send with its recv: the same key on all its ranks.
struct InstanceKey {
  JobIndex job = {};
  CommunicatorIndex communicator = {};
  bool point_to_point = false;
  std::uint32_t source = 0;       ///< point to point: position in the communicator
  std::uint32_t destination = 0;  ///< point to point: position in the communicator
  std::uint32_t number = 0;  ///< counts those of the communicator (of the pair) in the iteration
  std::uint32_t iteration = 0;

  constexpr auto operator<=>(const InstanceKey&) const = default;
};

/// What some of the ranks of an instance saw.
struct InstancePartial {
  InstanceKey key = {};
  CollectiveClass what = {};
  std::uint32_t ranks = 0;  ///< how many
  Duration shortest{0};     ///< min of (done − ready)
  Duration longest{0};      ///< max of (done − ready)

  bool operator==(const InstancePartial&) const = default;
};

/// What some of the ranks of one iteration saw. Instants of the agent's clock.
struct IterationPartial {
  JobIndex job = {};
  std::uint32_t iteration = 0;
  std::uint32_t ranks = 0;
  Duration longest{0};       ///< max of the iteration's time
  Duration waited{0};        ///< max of the time spent waiting for appointments inside it
  Instant appointment = {};  ///< the earliest
  Instant first_start = {};
  Instant last_done = {};

  bool operator==(const IterationPartial&) const = default;
};

/// Classes of which an agent keeps the distribution over ranks; further ones go without.
inline constexpr std::size_t kRankTimesMax = 1024;

/// The distribution of (done − ready) over ranks and instances.
struct RankTimes {
  CollectiveClass what = {};
  DurationHistogram times = {};
};

/// What one agent reduced its records to, since it was last asked.
struct PartialResults {
  std::vector<InstancePartial> instances = {};
  std::vector<IterationPartial> iterations = {};
  std::vector<RankTimes> rank_times = {};
};

void encode(const PartialResults& results, Encoder& encoder);
/// Checks sizes and enumerators, not whether jobs and communicators exist (InstanceTable does).
Result<PartialResults> decode_partial_results(Decoder& decoder);

}  // namespace rehearsal::measure
