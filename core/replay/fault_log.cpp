#include "core/replay/fault_log.hpp"

#include <algorithm>

namespace rehearsal::replay {
namespace {

measure::FaultSpell written(const fault::Spell& spell, Duration clock) {
  return {.fault = spell.fault,
          .level = spell.level,
          .began = spell.began + clock,
          .ended = std::max(spell.began, spell.ended) + clock};
}

}  // namespace

void log_faults(fault::Schedule& schedule, Instant now, Duration clock,
                measure::FaultMeasurements& log) {
  schedule.close(now);
  for (const fault::Spell& spell : schedule.spells()) log.spells.push_back(written(spell, clock));
  log.spells_dropped += schedule.spells_dropped();
}

void log_faults(FaultedTransport& transport, Instant now, Duration clock,
                measure::FaultMeasurements& log) {
  log_faults(transport.schedule(), now, clock, log);
  for (const FaultCount& count : transport.counts())
    log.effects.push_back({.fault = count.fault, .messages = count.messages, .hit = count.hit});
}

void log_faults(BackgroundTraffic& traffic, Instant now, Duration clock,
                measure::FaultMeasurements& log) {
  log_faults(traffic.schedule(), now, clock, log);
  for (const BackgroundCount& count : traffic.counts())
    log.background.push_back({.fault = count.fault,
                              .sent = count.sent,
                              .received = count.received,
                              .messages_sent = count.messages_sent,
                              .messages_received = count.messages_received});
}

void log_faults(DeviceRates& devices, Instant now, measure::FaultMeasurements& log) {
  log_faults(devices.schedule(), now, Duration::zero(), log);
  log.problems.insert(log.problems.end(), devices.problems().begin(), devices.problems().end());
}

void log_faults(Replayer& replayer, Instant now, measure::FaultMeasurements& log) {
  replayer.end_faults(now);
  for (const fault::Spell& spell : replayer.fault_spells()) {
    log.spells.push_back(written(spell, Duration::zero()));
    log.spells.back().job = replayer.job();
    log.spells.back().rank = replayer.rank();
  }
}

}  // namespace rehearsal::replay
