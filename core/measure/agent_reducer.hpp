#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/measure/collective_time.hpp"
#include "core/measure/records.hpp"

namespace rehearsal::measure {

/// A job as one agent sees it.
struct ReducedJob {
  JobIndex job = {};
  std::shared_ptr<const profile::Profile> profile = {};
  std::vector<Rank> ranks = {};  ///< that live on this agent
};

struct AgentReducerOptions {
  std::uint32_t iterations = 0;  ///< of the run
  /// Mode `free`: an iteration's time is done − done of the previous one on that rank (the first:
  /// from its start). Otherwise done − start − waited.
  bool free_running = false;
};

/// Reduces the records of an agent's ranks to partials as they come, so that nothing is kept per op
/// and rank. Everything is allocated by the constructor; add() is for the data path: noexcept, no
/// allocation. Owner thread only.
class AgentReducer {
 public:
  AgentReducer(std::span<const ReducedJob> jobs, AgentReducerOptions options);
  ~AgentReducer();
  AgentReducer(AgentReducer&&) noexcept;
  AgentReducer& operator=(AgentReducer&&) noexcept;

  /// Records of ranks that the constructor did not hear of are a bug.
  void add(std::span<const OpRecord> records) noexcept;
  void add(std::span<const IterationRecord> records) noexcept;

  /// What was added since the last take(). Allocates; not for the data path.
  PartialResults take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rehearsal::measure
