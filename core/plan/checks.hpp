#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/drill.hpp"
#include "core/plan/settings.hpp"
#include "core/profile/op.hpp"

namespace rehearsal::plan {

/// Bounds of what a drill may ask for.
inline constexpr std::uint32_t kChannelsMax = 64;
inline constexpr std::uint32_t kSlicesPerChunkMax = 16;
inline constexpr std::uint32_t kCreditsMax = 1024;
inline constexpr Bytes kChunkMax{64U << 20};
inline constexpr std::uint32_t kQueuePairsMax = 64;  // of one connection
inline constexpr std::uint32_t kIterationsMax = 1'000'000;
inline constexpr std::size_t kHostsMax = 4096;
inline constexpr std::size_t kJobsMax = 64;
inline constexpr std::size_t kNicsMax = 64;
/// Of one agent, and of what it says of each of its NICs.
inline constexpr std::size_t kInventoryNicsMax = 256;
inline constexpr std::size_t kNicTextMax = 256;
inline constexpr std::size_t kExpectationsMax = 64;
inline constexpr std::size_t kFaultsMax = 64;
inline constexpr std::size_t kNameMax = 64;
inline constexpr std::size_t kProfileNameMax = 1024;
inline constexpr std::uint32_t kRanksPerHostMax = 1024;
inline constexpr Duration kRunDurationMax = std::chrono::hours{168};

/// One thing wrong with a group of settings: which key of the group, what, and what would be right.
/// The drill's reader adds file and line, make_plan the path.
struct Wrong {
  std::string_view key;
  std::string what;
  std::string right;
};

std::optional<Wrong> check(const TransportSettings& transport);
std::optional<Wrong> check(const CollectiveSettings& collectives);
std::optional<Wrong> check(const LocalWishes& local);
/// What a drill forces; the keys are those of `collectives`.
std::optional<Wrong> check(const ForcedChoices& forced);
std::optional<Wrong> check(const Limits& limits);
std::optional<Wrong> check(const Expectation& expectation);
// Faults by themselves (fault_checks.cpp).
std::optional<Wrong> check(const fault::What& what);
std::optional<Wrong> check(const fault::Where& where);
std::optional<Wrong> check(const fault::When& when);
std::optional<Wrong> check(const fault::Fault& fault);
/// One job by itself: names, hosts and NICs listed twice.
std::optional<Wrong> check(const DrillJob& job);
/// What is not inside one of the groups above: name, number and names of jobs, iterations.
std::optional<Wrong> check(const Drill& drill);

/// All of the above for all parts of a drill, which may have been built by a program: the first
/// thing wrong as "limits.progress: what; what would be right" (invalid_input).
Result<void> check_all(const Drill& drill);

/// Drills, jobs, hosts and NICs: 1 to 64 of letters, digits and ". _ - :", the first a letter or
/// digit.
bool is_name(std::string_view name);
inline constexpr std::string_view kNameRule =
    "a name is 1 to 64 letters, digits, '.', '_', '-' or ':', the first a letter or digit";

/// Metrics an expectation may name, in the order of the documentation.
std::vector<std::string> expectation_metrics();
/// "all_reduce_busbw" → all_reduce; nothing for metrics that are not a bus bandwidth.
std::optional<profile::OpKind> kind_of_metric(std::string_view metric);

}  // namespace rehearsal::plan
