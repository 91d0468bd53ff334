#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/collective/choice.hpp"
#include "core/collective/forced.hpp"
#include "core/collective/system.hpp"
#include "core/profile/op.hpp"

namespace rehearsal::collective {

// How NCCL v2.30 picks algorithm and protocol: it has no thresholds of size. It knows a latency and
// a bandwidth for each way (cost_model.hpp), takes the one whose time is least, and lets small ops
// use fewer channels and smaller chunks (chunking.hpp).

/// One way to do an op, for people who ask why.
struct Candidate {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  std::uint32_t channels = 0;  ///< after small sizes have shrunk them
  double time_us = 0;          ///< of the model; zero where it has none
  bool allowed = false;
  std::string_view
      why_not;  ///< if it is not allowed: "all_reduce alone", "taken out by NCCL_ALGO" …

  bool operator==(const Candidate&) const = default;
};

/// All ways that NCCL knows, in its order; those that are not allowed say why. `bytes` is S of the
/// op as profile::Op counts it. Empty for kinds without a choice (all_to_all, send, barrier …).
std::vector<Candidate> candidates(profile::OpKind kind, Bytes bytes, const System& system,
                                  const Forced& forced = {});

/// The allowed candidate with the least time (the first of equals), with its chunks. Fails
/// (invalid_input) if nothing is allowed, saying why for each, and for kinds without a choice.
Result<Choice> choose(profile::OpKind kind, Bytes bytes, const System& system,
                      const Forced& forced = {});

}  // namespace rehearsal::collective
