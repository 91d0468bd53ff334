#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/encoding.hpp"
#include "core/base/ids.hpp"
#include "core/base/time.hpp"
#include "core/base/units.hpp"

namespace rehearsal::measure {

/// When a level of a fault truly was on, on one agent; instants of its clock.
struct FaultSpell {
  std::uint32_t fault = 0;  ///< index in the plan
  std::uint32_t level = 0;
  std::optional<JobIndex> job = {};  ///< with `rank`: of the rank that it slowed
  std::optional<Rank> rank = {};
  Instant began = {};
  Instant ended = {};

  bool operator==(const FaultSpell&) const = default;
};

/// What a fault did to the messages of one agent.
struct FaultEffect {
  std::uint32_t fault = 0;     ///< index in the plan
  std::uint64_t messages = 0;  ///< that passed while it was on
  std::uint64_t hit = 0;       ///< of these: delayed, lost or held back

  bool operator==(const FaultEffect&) const = default;
};

/// What a fault made one agent send and receive beside the jobs; whole messages.
struct BackgroundBytes {
  std::uint32_t fault = 0;  ///< index in the plan
  Bytes sent = {};
  Bytes received = {};
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;

  bool operator==(const BackgroundBytes&) const = default;
};

/// What went wrong with a fault of the kernel on one agent: refused, gone before its time, in
/// conflict with what somebody else did, not undone.
struct FaultProblem {
  std::uint32_t fault = 0;  ///< index in the plan
  std::string text = {};    ///< "STUCK: …"

  bool operator==(const FaultProblem&) const = default;
};

struct FaultMeasurements {
  std::vector<FaultSpell> spells = {};
  std::uint64_t spells_dropped = 0;  ///< there were more than are kept
  std::vector<FaultEffect> effects = {};
  std::vector<BackgroundBytes> background = {};
  std::vector<FaultProblem> problems = {};

  bool operator==(const FaultMeasurements&) const = default;
};

void encode(const FaultMeasurements& measurements, Encoder& encoder);
Result<FaultMeasurements> decode_fault_measurements(Decoder& decoder);

}  // namespace rehearsal::measure
