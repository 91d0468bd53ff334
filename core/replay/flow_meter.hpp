#pragma once

#include <cstdint>
#include <vector>

#include "core/measure/flow_times.hpp"
#include "core/replay/links.hpp"

namespace rehearsal::replay {

/// Where one rank's time goes: counts what its connections hold and for which of them it stands
/// still (measure::FlowTimes). Connections of one pair of ranks by one NIC share their figures.
/// Everything is allocated by the constructor; the rest, but for append_to(), is for the data path.
class FlowMeter {
 public:
  /// Gives every link its row. `connections`: those that `links` was made of.
  FlowMeter(const plan::Connections& connections, JobIndex job, Rank rank, Links& links,
            std::vector<std::uint32_t> windows);

  /// What is counted from now on belongs to this iteration, and so does what arrived since the last
  /// one ended. `appointment`: the latest.
  void begin_iteration(std::uint32_t iteration, Instant appointment) noexcept;
  /// The rank has done what it has to do in the iteration: what arrives now is of the next one, of
  /// a peer that begins a little earlier.
  void end_iteration() noexcept { begun_ = false; }

  /// A message was posted; the link's credits do not count it yet.
  void posted(Link& link, std::uint64_t bytes, Instant now) noexcept {
    if (link.credits == link.credits_max) hold(link, now);
    count(link, bytes, now);
  }
  /// A credit came back and is counted in the link's credits.
  void credited(Link& link, Instant now) noexcept {
    if (link.credits == link.credits_max) let_go(link, now);
  }
  /// A message arrived and is counted in the link.
  void arrived(Link& link, std::uint64_t bytes, Instant now) noexcept {
    if (link.arrived == 1) hold(link, now);
    if (begun_)
      count(link, bytes, now);
    else
      add(early_[link.meter_row], bytes, now.time_since_epoch());
  }
  /// A message was consumed and is no longer counted in the link.
  void consumed(Link& link, Instant now) noexcept {
    if (link.arrived == 0) let_go(link, now);
  }
  /// A lane stands still for the link; it moves on.
  void stands(Link& link, Instant now) noexcept { link.stands_since = now; }
  void moves(Link& link, Instant now) noexcept { figures(link).stood += now - link.stands_since; }

  void computed(Duration duration) noexcept { compute_[window_].computed += duration; }
  void late(Duration duration) noexcept { compute_[window_].late += duration; }

  /// Adds this rank's flows and compute to those of its agent; flows that carried nothing are left
  /// out. Allocates.
  void append_to(measure::FlowMeasurements& measurements) const;

 private:
  std::size_t place(const Link& link) const noexcept {
    return window_ * flows_.size() + link.meter_row;
  }
  measure::FlowFigures& figures(const Link& link) noexcept { return figures_[place(link)]; }
  void hold(Link& link, Instant now) const noexcept {
    link.held_since = now;
    link.held_at = place(link);
  }
  /// The last credits of an iteration come back when it is over: they are still its own.
  void let_go(Link& link, Instant now) noexcept {
    figures_[link.held_at].held += now - link.held_since;
  }
  void count(const Link& link, std::uint64_t bytes, Instant now) noexcept {
    add(figures(link), bytes, now - appointment_);
  }
  static void add(measure::FlowFigures& row, std::uint64_t bytes, Duration at) noexcept {
    ++row.messages;
    row.bytes += Bytes{bytes};
    row.instants += static_cast<std::uint64_t>(at.count());
  }

  JobIndex job_;
  Rank rank_;
  std::vector<std::uint32_t> windows_;
  std::vector<measure::FlowTimes> flows_;         ///< who they are; their figures are kept apart
  std::vector<measure::FlowFigures> figures_;     ///< window × flow
  std::vector<measure::ComputeFigures> compute_;  ///< by window
  /// By flow: what arrived while no iteration was under way; instants are those of the clock.
  std::vector<measure::FlowFigures> early_;
  bool begun_ = false;  ///< an iteration
  std::size_t window_ = 0;
  Instant appointment_ = {};
};

}  // namespace rehearsal::replay
