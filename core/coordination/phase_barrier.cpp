#include "core/coordination/phase_barrier.hpp"

#include <algorithm>

#include "core/base/check.hpp"

namespace rehearsal::coordination {

PhaseBarrier::PhaseBarrier(BarrierOptions options)
    : options_(options), arrived_(options.hosts, false) {
  CHECK(options.iterations > 0, "a run has iterations");
  CHECK(options.phases > 0, "an iteration has phases");
  CHECK(options.hosts > 0, "a run has hosts");
}

bool PhaseBarrier::arrive(HostIndex host, Step done) {
  CHECK(host.value < options_.hosts, "hosts are those of the plan");
  if (done != reported() || arrived_[host.value]) return false;
  arrived_[host.value] = true;
  return ++arrived_count_ == options_.hosts;
}

std::optional<Step> PhaseBarrier::advance() {
  CHECK(arrived_count_ == options_.hosts, "all have arrived");
  Step next = step_;
  switch (options_.mode) {
    case plan::SyncMode::free:
      next.iteration = options_.iterations;
      break;
    case plan::SyncMode::iteration:
      ++next.iteration;
      break;
    case plan::SyncMode::phase:
      if (++next.phase == options_.phases) next = {.iteration = step_.iteration + 1, .phase = 0};
      break;
  }
  iterations_done_ = next.iteration;
  if (next.iteration == options_.iterations) return std::nullopt;
  step_ = next;
  std::fill(arrived_.begin(), arrived_.end(), false);
  arrived_count_ = 0;
  return step_;
}

std::vector<HostIndex> PhaseBarrier::missing() const {
  std::vector<HostIndex> hosts;
  for (std::uint32_t i = 0; i < options_.hosts; ++i) {
    if (!arrived_[i]) hosts.push_back(HostIndex{i});
  }
  return hosts;
}

Step PhaseBarrier::reported() const {
  if (options_.mode != plan::SyncMode::free) return step_;
  return {.iteration = options_.iterations - 1, .phase = 0};
}

}  // namespace rehearsal::coordination
