#include "core/replay/device_rates.hpp"

#include "core/base/text.hpp"
#include "core/replay/schedule_entries.hpp"

namespace rehearsal::replay {
namespace {

using fault::Schedule;

bool is_by_device(const fault::PlannedFault& fault) {
  return fault.mechanism == fault::Mechanism::device;
}

}  // namespace

DeviceRates::DeviceRates(const plan::Plan& plan, HostIndex host,
                         const plan::Connections& connections)
    : plan_(plan),
      schedule_(schedule_entries(plan, host, is_by_device)),
      levels_(schedule_.size(), Schedule::kOff) {
  for (std::size_t i = 0; i < schedule_.size(); ++i)
    cuts_.push_back(
        plan::device_cuts(plan, plan.faults[schedule_.entry(i).fault], host, connections));
}

void DeviceRates::turn(Transport& transport, Instant now) noexcept {
  if (!failure_.empty()) return;
  schedule_.at(now);
  // Lifted first: what begins as another ends would lose its limit to that one's lifting.
  for (const bool lifting : {true, false}) {
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      const std::uint32_t level = schedule_.level(i);
      if (levels_[i] == level || (level == Schedule::kOff) != lifting) continue;
      if (const auto done = set(transport, i, level); !done)
        return fail(transport, i, done.error().text(), now);
    }
  }
}

/// The level counts as the devices' as soon as one of them has it, so that lift() knows.
Result<void> DeviceRates::set(Transport& transport, std::size_t entry,
                              std::uint32_t level) noexcept {
  levels_[entry] = level;
  for (const plan::DeviceCut& cut : cuts_[entry]) {
    const BitRate rate = level == Schedule::kOff ? BitRate{} : cut.rates[level];
    for (const ConnectionIndex connection : cut.connections)
      RETURN_IF_ERROR(transport.limit_rate(connection, rate));
  }
  return {};
}

void DeviceRates::fail(Transport& transport, std::size_t entry, const std::string& why,
                       Instant now) noexcept {
  const std::uint32_t index = schedule_.entry(entry).fault;
  failure_ = "fault " + in_quotes(plan_.faults[index].name) + ": " + why;
  problems_.push_back({.fault = index, .text = why});
  // What failed to go off is to be lifted as well.
  if (levels_[entry] == Schedule::kOff) levels_[entry] = 0;
  schedule_.close(now);
  lift(transport);
}

void DeviceRates::lift(Transport& transport) noexcept {
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    if (levels_[i] == Schedule::kOff) continue;
    levels_[i] = Schedule::kOff;
    std::string kept;
    std::size_t count = 0;
    for (const plan::DeviceCut& cut : cuts_[i]) {
      for (const ConnectionIndex connection : cut.connections) {
        const auto lifted = transport.limit_rate(connection, BitRate{});
        if (lifted) continue;
        if (count++ == 0) kept = lifted.error().text();
      }
    }
    if (count != 0)
      problems_.push_back({.fault = schedule_.entry(i).fault,
                           .text = kept + "; " + std::to_string(count) +
                                   " connections keep their limit until their queue pairs are "
                                   "released, at the end of the run"});
  }
}

void DeviceRates::end(Transport& transport, Instant now) noexcept {
  schedule_.close(now);
  lift(transport);
}

}  // namespace rehearsal::replay
