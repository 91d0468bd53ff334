#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/measure/collective_time.hpp"

namespace rehearsal::measure {

/// One instance that all its ranks completed.
struct InstanceTime {
  std::uint32_t iteration = 0;
  Duration time{0};  ///< min over ranks of (done − ready)

  auto operator<=>(const InstanceTime&) const = default;
};

/// All that is known of one class of collectives.
struct ClassTimes {
  CollectiveClass what = {};
  std::uint32_t ranks = 0;                   ///< that take part in one instance
  std::vector<InstanceTime> instances = {};  ///< complete ones, by iteration
  std::uint64_t incomplete = 0;              ///< instances that some rank did not complete
  DurationSummary rank_times = {};           ///< over ranks and instances, also of incomplete ones
};

/// Merges the partials of all agents. How records were divided among partials does not matter.
class InstanceTable {
 public:
  /// `profiles`: one a job, by JobIndex. `iterations`: of the run.
  InstanceTable(std::vector<std::shared_ptr<const profile::Profile>> profiles,
                std::uint32_t iterations);

  /// Takes an agent's partials in. A partial that fits no job, communicator or iteration, or ranks
  /// beyond the communicator's, are the agent's error; nothing of `results` counts then.
  Result<void> add(const PartialResults& results);

  /// In the order in which a rank's list of ops has them: job, then first appearance.
  std::vector<ClassTimes> classes() const;

  /// Communication ops completed of a job, over all ranks.
  std::uint64_t ops_completed(JobIndex job) const;

 private:
  struct Merged {
    CollectiveClass what;
    std::uint32_t ranks = 0;
    Duration shortest{0};
  };
  struct KeyHash {
    std::size_t operator()(const InstanceKey& key) const noexcept;
  };

  Result<void> check(const InstancePartial& partial) const;
  std::uint32_t ranks_of(const InstanceKey& key) const;

  std::vector<std::shared_ptr<const profile::Profile>> profiles_;
  std::uint32_t iterations_;
  std::unordered_map<InstanceKey, Merged, KeyHash> instances_;
  std::vector<RankTimes> rank_times_;
  std::vector<std::uint64_t> ops_completed_;
};

}  // namespace rehearsal::measure
