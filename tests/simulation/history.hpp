#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/diagnosis/suspect.hpp"
#include "core/measure/iteration_table.hpp"
#include "core/plan/plan.hpp"
#include "core/simulation/nic_network.hpp"

namespace rehearsal::simulation {

/// What ranks do in each iteration.
enum class Workload { ring, exchange, mixed };

/// What is wrong in a history, and where.
struct Truth {
  enum class Kind { none, nic, nic_sending, nic_receiving, link, latency, straggler };
  Kind kind = Kind::none;
  std::uint32_t host = 0;
  std::uint32_t nic = 0;
  std::uint32_t peer = 0;   ///< of a link: host at its other end
  double rate = 1;          ///< of NICs and links: what is left of it
  Duration delay{0};        ///< of latency, a message; of a straggler, an iteration
  std::uint32_t first = 0;  ///< iterations in which it is so: [first, last)
  std::uint32_t last = 1'000'000;
};
std::string to_string(const Truth& truth);

struct HistoryOptions {
  std::uint32_t hosts = 4;
  std::uint32_t nics = 1;
  std::uint32_t ranks_per_host = 1;
  Workload workload = Workload::ring;
  std::uint32_t iterations = 24;
  Duration compute = std::chrono::milliseconds{1};
  Bytes bytes{4U << 20};  ///< of each collective
  Duration jitter{0};     ///< of messages
  double unevenness = 0;  ///< rates of NICs differ by up to this part
  /// That a host gets no CPU when an iteration begins, for a random time with this mean.
  double hiccup_chance = 0;
  Duration hiccup{0};
  std::uint64_t seed = 1;
  Truth truth;
};

/// What became of it.
struct History {
  plan::Plan plan;
  std::vector<measure::IterationTime> iterations;
  diagnosis::Observations observations;
  std::vector<diagnosis::Suspect> suspects;
};

/// Lives through it with the production replayers, and lets the production diagnosis look at what
/// they measured.
History live_through(const HistoryOptions& options);

/// "h2/rail0 sends …", for failure messages.
std::string describe(const History& history);

}  // namespace rehearsal::simulation
