#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/import/execution_trace.hpp"
#include "core/import/kineto.hpp"
#include "core/import/timeline.hpp"

namespace rehearsal::importer {

/// One rank's communication in order, from its Kineto trace, its execution trace or both.
struct RankCommunication {
  Rank rank;
  std::string file;  ///< the one to name in errors
  std::vector<CapturedCollective> collectives;
  WaitTimes waits;  ///< empty without a Kineto trace
};

/// Splits and waits from the execution trace (the sequence number of a wait is that of its
/// collective). A wait for a collective of the iteration before changes nothing; the collective at
/// the same place in this iteration then is waited for in the next one. A collective that nothing
/// waits for (a bucket of DistributedDataParallel) is needed at the end of the phase that issued
/// it.
Result<RankCommunication> join(const KinetoIteration& kineto, const ExecutionTrace& trace);

/// Without an execution trace: sizes as Kineto has them; each wait is taken to be for the last
/// collective launched before it that is no all_reduce and is not waited for yet, else for the
/// first such all_reduce.
Result<RankCommunication> from_kineto(const KinetoIteration& kineto);

/// Without a Kineto trace: no times.
Result<RankCommunication> from_execution_trace(const ExecutionTrace& trace);

}  // namespace rehearsal::importer
