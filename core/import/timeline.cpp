#include "core/import/timeline.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace rehearsal::importer {
namespace {

using profile::Op;
using profile::OpIndex;
using profile::OpKind;

struct Marker {
  enum class Kind : std::uint8_t { wait, phase, launch, end };  // in this order at the same time
  std::int64_t time = 0;
  Kind kind = Kind::end;
  std::size_t index = 0;  ///< of the collective or phase
};

std::vector<Marker> markers_of(const KinetoIteration& iteration, const WaitTimes& waits) {
  std::vector<Marker> markers;
  for (std::size_t i = 0; i < iteration.collectives.size(); ++i) {
    markers.push_back({iteration.collectives[i].launched, Marker::Kind::launch, i});
    if (waits[i]) markers.push_back({*waits[i], Marker::Kind::wait, i});
  }
  for (std::size_t i = 0; i < iteration.phases.size(); ++i) {
    markers.push_back({iteration.phases[i].span.begin, Marker::Kind::phase, i});
  }
  markers.push_back({iteration.span.end, Marker::Kind::end, 0});
  std::stable_sort(markers.begin(), markers.end(), [](const Marker& a, const Marker& b) {
    return a.time != b.time ? a.time < b.time : a.kind < b.kind;
  });
  return markers;
}

/// When the kernels launched up to a host time are done; asked for ascending times.
class ComputeEnds {
 public:
  explicit ComputeEnds(const std::vector<KinetoIteration::Compute>& compute) : compute_(compute) {}

  std::int64_t launched_before(std::int64_t time) {
    for (; next_ < compute_.size() && compute_[next_].launched < time; ++next_) {
      latest_ = std::max(latest_, compute_[next_].end);
    }
    return latest_;
  }

 private:
  const std::vector<KinetoIteration::Compute>& compute_;
  std::size_t next_ = 0;
  std::int64_t latest_ = INT64_MIN;
};

class Builder {
 public:
  Builder(const KinetoIteration& iteration, const std::vector<Op>& collectives,
          const std::vector<std::uint32_t>& phases)
      : iteration_(iteration),
        collectives_(collectives),
        phases_(phases),
        names_(phase_names(iteration)),
        ends_(iteration.compute),
        op_of_collective_(collectives.size()),
        now_(iteration.span.begin) {}

  void take(const Marker& marker) {
    const bool last = marker.kind == Marker::Kind::end;
    const std::int64_t kernels = ends_.launched_before(marker.time);
    compute_until(last ? marker.time : std::max(marker.time, kernels));
    if (marker.kind == Marker::Kind::phase) phase_ = static_cast<std::uint32_t>(marker.index);
    if (marker.kind == Marker::Kind::launch) launch(marker.index);
    if (marker.kind == Marker::Kind::wait) wait(marker.index);
  }

  std::vector<Op> take_ops() { return std::move(ops_); }

 private:
  void compute_until(std::int64_t time) {
    if (time <= now_) return;
    Op op;
    op.kind = OpKind::compute;
    op.stream = kComputeStream;
    op.phase = phases_[phase_];
    op.name = names_[phase_] + " " + std::to_string(computes_in_phase_[phase_]++);
    op.duration = Duration{time - now_};
    op.after = take_pending();
    last_compute_ = static_cast<OpIndex>(ops_.size());
    ops_.push_back(std::move(op));
    now_ = time;
  }

  void launch(std::size_t index) {
    Op op = collectives_[index];
    op.stream = kCommunicationStream;
    op.phase = phases_[phase_at(iteration_, iteration_.collectives[index].launched)];
    // Collectives waited for since then run on the same stream: its order says it already.
    if (last_compute_) op.after = {*last_compute_};
    op_of_collective_[index] = static_cast<OpIndex>(ops_.size());
    ops_.push_back(std::move(op));
  }

  void wait(std::size_t index) {
    now_ = std::max(now_, iteration_.collectives[index].kernel.end);
    pending_.push_back(op_of_collective_[index]);
  }

  std::vector<OpIndex> take_pending() {
    std::sort(pending_.begin(), pending_.end());
    pending_.erase(std::unique(pending_.begin(), pending_.end()), pending_.end());
    return std::exchange(pending_, {});
  }

  const KinetoIteration& iteration_;
  const std::vector<Op>& collectives_;
  const std::vector<std::uint32_t>& phases_;
  const std::vector<std::string> names_;
  ComputeEnds ends_;
  std::vector<Op> ops_;
  std::vector<OpIndex> op_of_collective_;
  std::vector<OpIndex> pending_;  ///< collectives the next compute op waits for
  std::optional<OpIndex> last_compute_;
  std::map<std::uint32_t, std::uint32_t> computes_in_phase_;
  std::uint32_t phase_ = 0;
  std::int64_t now_;  ///< how far the compute timeline has come
};

}  // namespace

std::vector<std::string> phase_names(const KinetoIteration& iteration) {
  std::vector<std::string> names;
  std::map<std::string, int> seen;
  for (const KinetoIteration::Phase& phase : iteration.phases) {
    const int count = ++seen[phase.name];
    names.push_back(count == 1 ? phase.name : phase.name + " " + std::to_string(count));
  }
  if (names.empty()) names.emplace_back("iteration");
  return names;
}

std::uint32_t phase_at(const KinetoIteration& iteration, std::int64_t time) {
  std::uint32_t phase = 0;
  for (std::uint32_t i = 0; i < iteration.phases.size(); ++i) {
    if (iteration.phases[i].span.begin <= time) phase = i;
  }
  return phase;
}

std::vector<Op> timeline(const KinetoIteration& iteration, const WaitTimes& waits,
                         const std::vector<Op>& collectives,
                         const std::vector<std::uint32_t>& phases) {
  Builder builder(iteration, collectives, phases);
  for (const Marker& marker : markers_of(iteration, waits)) builder.take(marker);
  return builder.take_ops();
}

}  // namespace rehearsal::importer
