#include "core/replay/background_traffic.hpp"

#include <algorithm>
#include <map>

#include "core/base/check.hpp"
#include "core/plan/background.hpp"
#include "core/replay/schedule_entries.hpp"

namespace rehearsal::replay {
namespace {

constexpr std::uint32_t kOff = fault::Schedule::kOff;

// A fault is an entry once, however many flows it has here.
std::vector<fault::Schedule::Entry> entries_of(const plan::Plan& plan,
                                               const plan::Connections& connections) {
  std::vector<fault::Schedule::Entry> entries;
  for (const plan::ConnectionSpec& spec : connections.background_outgoing) {
    const std::uint32_t index = spec.key.job.value;
    if (!entries.empty() && entries.back().fault == index) continue;  // specs come by fault
    entries.push_back(schedule_entry(plan, index));
  }
  return entries;
}

std::size_t requests_max(const plan::Connections& connections) {
  std::size_t total = 0;
  for (const auto* specs : {&connections.background_outgoing, &connections.background_incoming})
    for (const plan::ConnectionSpec& spec : *specs) total += spec.credits;
  return total;
}

}  // namespace

bool BackgroundTraffic::needed(const plan::Connections& connections) {
  return !connections.background_outgoing.empty() || !connections.background_incoming.empty();
}

BackgroundTraffic::BackgroundTraffic(const plan::Plan& plan, const plan::Connections& connections)
    : schedule_(entries_of(plan, connections)), requests_(requests_max(connections)) {
  first_ = static_cast<std::uint32_t>(connections.outgoing.size() + connections.incoming.size() +
                                      connections.local.size());
  std::map<plan::ConnectionKey, plan::BackgroundFlow> planned;
  for (const plan::BackgroundFlow& flow : plan::background_flows(plan))
    planned.emplace(plan::key_of(flow), flow);
  for (const plan::ConnectionSpec& spec : connections.background_outgoing) {
    const plan::BackgroundFlow& of_plan = planned.at(spec.key);
    const fault::What& what = plan.faults[of_plan.fault].what;
    Flow flow{.connection = spec.index, .outgoing = true, .count = count_of(of_plan.fault)};
    while (schedule_.entry(flow.entry).fault != of_plan.fault) ++flow.entry;
    flow.credits = flow.credits_max = spec.credits;
    flow.bytes = what.message.count();
    flow.intervals_begin = static_cast<std::uint32_t>(intervals_.size());
    for (std::uint32_t level = 0; level < what.levels.size(); ++level)
      intervals_.push_back(std::min(
          transmission_time(what.message, plan::rate_of(plan, of_plan, level)), fault::kLengthMax));
    flows_.push_back(flow);
  }
  for (const plan::ConnectionSpec& spec : connections.background_incoming)
    flows_.push_back({.connection = spec.index, .count = count_of(planned.at(spec.key).fault)});
  for (std::uint32_t i = 0; i < flows_.size(); ++i)
    CHECK(flows_[i].connection.value == first_ + i, "connections are counted through");
}

std::uint32_t BackgroundTraffic::count_of(std::uint32_t fault) {
  const auto found = std::ranges::find(counts_, fault, &BackgroundCount::fault);
  if (found != counts_.end()) return static_cast<std::uint32_t>(found - counts_.begin());
  counts_.push_back({.fault = fault, .sent = {}, .received = {}});
  return static_cast<std::uint32_t>(counts_.size() - 1);
}

bool BackgroundTraffic::is_mine(ConnectionIndex connection) const noexcept {
  return connection.value >= first_ && connection.value - first_ < flows_.size();
}

void BackgroundTraffic::on(std::span<const Completion> completions) noexcept {
  for (const Completion& completion : completions)
    if (is_mine(completion.connection))
      take(flows_[completion.connection.value - first_], completion);
}

void BackgroundTraffic::take(Flow& flow, const Completion& completion) noexcept {
  BackgroundCount& count = counts_[flow.count];
  switch (completion.kind) {
    case Completion::Kind::connected:
      if (!flow.connected) ++connected_;
      flow.connected = true;
      break;
    case Completion::Kind::sent:
      count.sent += Bytes{completion.bytes};
      ++count.messages_sent;
      break;
    case Completion::Kind::credit:
      CHECK(flow.credits < flow.credits_max, "a credit too many");
      ++flow.credits;
      break;
    case Completion::Kind::received:
      count.received += Bytes{completion.bytes};
      ++count.messages_received;
      requests_.push({.kind = Request::Kind::release,
                      .connection = flow.connection,
                      .sequence = flow.next_sequence++,
                      .bytes = completion.bytes});
      break;
    case Completion::Kind::failed:
      if (!failure_) failure_ = Failure{flow.connection, completion.reason};
      break;
  }
}

void BackgroundTraffic::advance(Instant now) noexcept {
  schedule_.at(now);
  if (failure_) return;
  for (Flow& flow : flows_)
    if (flow.outgoing) advance(flow, now);
}

void BackgroundTraffic::advance(Flow& flow, Instant now) noexcept {
  const std::uint32_t level = schedule_.level(flow.entry);
  if (level != flow.level) flow.next = level == kOff ? kNever : now;
  flow.level = level;
  if (level == kOff) return;
  const Duration interval = intervals_[flow.intervals_begin + level];
  while (flow.credits > 0 && flow.next <= now) {
    --flow.credits;
    requests_.push({.kind = Request::Kind::send,
                    .connection = flow.connection,
                    .sequence = flow.next_sequence++,
                    .bytes = flow.bytes});
    flow.next = std::max(flow.next, now - interval * flow.credits_max) + interval;
  }
}

Instant BackgroundTraffic::next_deadline() const noexcept {
  Instant next = schedule_.next_change();
  for (const Flow& flow : flows_)
    if (flow.outgoing && flow.level != kOff && flow.credits > 0) next = std::min(next, flow.next);
  return next;
}

void BackgroundTraffic::end(Instant now) noexcept {
  schedule_.close(now);
  for (Flow& flow : flows_) flow.level = kOff;
}

}  // namespace rehearsal::replay
