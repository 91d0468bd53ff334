#include "core/measure/fault_times.hpp"

#include <algorithm>

#include "core/base/text.hpp"

namespace rehearsal::measure {
namespace {

constexpr std::uint64_t kIndexMax = (std::uint64_t{1} << 32) - 2;
constexpr std::size_t kProblemBytesMax = 512;
constexpr std::uint64_t kNanosecondsMax = (std::uint64_t{1} << 62) - 1;

void put(Encoder& encoder, Instant instant) {
  encoder.number(
      static_cast<std::uint64_t>(std::max<std::int64_t>(instant.time_since_epoch().count(), 0)));
}

Result<Instant> take_instant(Decoder& decoder) {
  ASSIGN_OR_RETURN(const std::uint64_t count,
                   decoder.number_up_to(kNanosecondsMax, "the instant of a fault"));
  return Instant{Duration{static_cast<std::int64_t>(count)}};
}

Result<std::uint32_t> take_index(Decoder& decoder) {
  ASSIGN_OR_RETURN(const std::uint64_t index, decoder.number_up_to(kIndexMax, "the fault"));
  return static_cast<std::uint32_t>(index);
}

// Nothing is zero, an index one more than it is.
template <typename Index>
void put(Encoder& encoder, const std::optional<Index>& index) {
  encoder.number(index ? index->value + std::uint64_t{1} : 0);
}

template <typename Index>
Result<std::optional<Index>> take_optional(Decoder& decoder) {
  ASSIGN_OR_RETURN(const std::uint64_t index, decoder.number_up_to(kIndexMax, "whom a fault hit"));
  if (index == 0) return std::optional<Index>{};
  return std::optional<Index>{Index{static_cast<std::uint32_t>(index - 1)}};
}

Result<FaultSpell> take_spell(Decoder& decoder) {
  FaultSpell spell;
  ASSIGN_OR_RETURN(spell.fault, take_index(decoder));
  ASSIGN_OR_RETURN(spell.level, take_index(decoder));
  ASSIGN_OR_RETURN(spell.job, take_optional<JobIndex>(decoder));
  ASSIGN_OR_RETURN(spell.rank, take_optional<Rank>(decoder));
  ASSIGN_OR_RETURN(spell.began, take_instant(decoder));
  ASSIGN_OR_RETURN(spell.ended, take_instant(decoder));
  if (spell.ended < spell.began)
    return fail(ErrorCode::protocol, ErrorSource::control, "a fault that ended before it began");
  return spell;
}

}  // namespace

void encode(const FaultMeasurements& measurements, Encoder& encoder) {
  encoder.number(measurements.spells.size());
  for (const FaultSpell& spell : measurements.spells) {
    encoder.number(spell.fault);
    encoder.number(spell.level);
    put(encoder, spell.job);
    put(encoder, spell.rank);
    put(encoder, spell.began);
    put(encoder, spell.ended);
  }
  encoder.number(measurements.spells_dropped);
  encoder.number(measurements.effects.size());
  for (const FaultEffect& effect : measurements.effects) {
    encoder.number(effect.fault);
    encoder.number(effect.messages);
    encoder.number(effect.hit);
  }
  encoder.number(measurements.background.size());
  for (const BackgroundBytes& bytes : measurements.background) {
    encoder.number(bytes.fault);
    encoder.number(bytes.sent.count());
    encoder.number(bytes.received.count());
    encoder.number(bytes.messages_sent);
    encoder.number(bytes.messages_received);
  }
  encoder.number(measurements.problems.size());
  for (const FaultProblem& problem : measurements.problems) {
    encoder.number(problem.fault);
    encoder.text(problem.text.substr(0, kProblemBytesMax));
  }
}

Result<FaultMeasurements> decode_fault_measurements(Decoder& decoder) {
  FaultMeasurements measurements;
  ASSIGN_OR_RETURN(const std::size_t spells, decoder.count(6, "times of faults"));
  for (std::size_t i = 0; i < spells; ++i) {
    ASSIGN_OR_RETURN(measurements.spells.emplace_back(), take_spell(decoder));
  }
  ASSIGN_OR_RETURN(measurements.spells_dropped, decoder.number());
  ASSIGN_OR_RETURN(const std::size_t effects, decoder.count(3, "effects of faults"));
  for (std::size_t i = 0; i < effects; ++i) {
    FaultEffect& effect = measurements.effects.emplace_back();
    ASSIGN_OR_RETURN(effect.fault, take_index(decoder));
    ASSIGN_OR_RETURN(effect.messages, decoder.number());
    ASSIGN_OR_RETURN(effect.hit, decoder.number());
  }
  ASSIGN_OR_RETURN(const std::size_t background, decoder.count(5, "background traffic"));
  for (std::size_t i = 0; i < background; ++i) {
    BackgroundBytes& bytes = measurements.background.emplace_back();
    ASSIGN_OR_RETURN(bytes.fault, take_index(decoder));
    ASSIGN_OR_RETURN(const std::uint64_t sent, decoder.number());
    ASSIGN_OR_RETURN(const std::uint64_t received, decoder.number());
    bytes.sent = Bytes{sent};
    bytes.received = Bytes{received};
    ASSIGN_OR_RETURN(bytes.messages_sent, decoder.number());
    ASSIGN_OR_RETURN(bytes.messages_received, decoder.number());
  }
  ASSIGN_OR_RETURN(const std::size_t problems, decoder.count(2, "problems of faults"));
  for (std::size_t i = 0; i < problems; ++i) {
    FaultProblem& problem = measurements.problems.emplace_back();
    ASSIGN_OR_RETURN(problem.fault, take_index(decoder));
    ASSIGN_OR_RETURN(std::string text, decoder.text(kProblemBytesMax));
    problem.text = ascii(std::move(text));
  }
  return measurements;
}

}  // namespace rehearsal::measure
