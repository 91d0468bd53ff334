#include "core/replay/flow_meter.hpp"

#include <map>
#include <tuple>

#include "core/base/check.hpp"

namespace rehearsal::replay {
namespace {

/// Of a link, whose spec knows the NIC.
measure::FlowTimes flow_of(const Link& link, const plan::ConnectionSpec& spec) {
  return {.job = spec.key.job,
          .source = spec.key.source,
          .destination = spec.key.destination,
          .nic = link.local ? NicIndex{} : spec.nic,
          .outgoing = link.outgoing,
          .local = link.local};
}

auto name_of(const measure::FlowTimes& flow) {
  return std::tuple(flow.local, flow.outgoing, flow.source, flow.destination, flow.nic);
}

}  // namespace

FlowMeter::FlowMeter(const plan::Connections& connections, JobIndex job, Rank rank, Links& links,
                     std::vector<std::uint32_t> windows)
    : job_(job), rank_(rank), windows_(std::move(windows)) {
  CHECK(!windows_.empty(), "a run has at least one window");
  std::map<ConnectionIndex, const plan::ConnectionSpec*> specs;
  for (const auto* list : {&connections.outgoing, &connections.incoming, &connections.local})
    for (const plan::ConnectionSpec& spec : *list)
      if (spec.key.job == job && (spec.key.source == rank || spec.key.destination == rank))
        specs.emplace(spec.index, &spec);
  std::map<decltype(name_of(std::declval<measure::FlowTimes>())), std::uint32_t> rows;
  for (std::uint32_t i = 0; i < links.size(); ++i) {
    const measure::FlowTimes flow = flow_of(links[i], *specs.at(links[i].connection));
    const auto [row, is_new] =
        rows.try_emplace(name_of(flow), static_cast<std::uint32_t>(flows_.size()));
    if (is_new) flows_.push_back(flow);
    links[i].meter_row = row->second;
  }
  figures_.resize(flows_.size() * windows_.size());
  early_.resize(flows_.size());
  compute_.resize(windows_.size());
}

void FlowMeter::begin_iteration(std::uint32_t iteration, Instant appointment) noexcept {
  appointment_ = appointment;
  window_ = measure::window_of(windows_, iteration);
  begun_ = true;
  const auto start = static_cast<std::uint64_t>(appointment.time_since_epoch().count());
  for (std::size_t row = 0; row < early_.size(); ++row) {
    measure::FlowFigures& early = early_[row];
    early.instants -= early.messages * start;  // earlier than the appointment: wraps
    figures_[window_ * flows_.size() + row] += early;
    early = {};
  }
}

void FlowMeter::append_to(measure::FlowMeasurements& measurements) const {
  measurements.windows = windows_;
  for (std::size_t row = 0; row < flows_.size(); ++row) {
    measure::FlowTimes flow = flows_[row];
    std::uint64_t messages = 0;
    for (std::size_t window = 0; window < windows_.size(); ++window) {
      flow.windows.push_back(figures_[window * flows_.size() + row]);
      messages += flow.windows.back().messages;
    }
    if (messages > 0) measurements.flows.push_back(std::move(flow));
  }
  measurements.ranks.push_back({.job = job_, .rank = rank_, .windows = compute_});
}

}  // namespace rehearsal::replay
