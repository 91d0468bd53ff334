#include "core/measure/collective_time.hpp"

#include <algorithm>

namespace rehearsal::measure {
namespace {

constexpr std::uint64_t kNanosecondsMax = (std::uint64_t{1} << 62) - 1;
constexpr std::uint64_t kIndexMax = (std::uint64_t{1} << 32) - 1;
constexpr std::uint64_t kKindMax = static_cast<std::uint64_t>(profile::OpKind::barrier);
// A key of seven numbers, a class of two more, a count and two durations; of one byte at least
// each.
constexpr std::size_t kInstanceSizeMin = 12;
constexpr std::size_t kIterationSizeMin = 8;

void put(Encoder& encoder, Duration duration) {
  encoder.number(static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0)));
}
void put(Encoder& encoder, Instant instant) { put(encoder, instant.time_since_epoch()); }

void put(Encoder& encoder, const CollectiveClass& what) {
  encoder.number(what.job.value);
  encoder.number(static_cast<std::uint64_t>(what.kind));
  encoder.number(what.communicator.value);
  encoder.number(what.bytes.count());
}

Result<std::uint32_t> take_index(Decoder& decoder, std::string_view what) {
  ASSIGN_OR_RETURN(const std::uint64_t value, decoder.number_up_to(kIndexMax, what));
  return static_cast<std::uint32_t>(value);
}
Result<Duration> take_duration(Decoder& decoder, std::string_view what) {
  ASSIGN_OR_RETURN(const std::uint64_t value, decoder.number_up_to(kNanosecondsMax, what));
  return Duration{static_cast<std::int64_t>(value)};
}
Result<Instant> take_instant(Decoder& decoder, std::string_view what) {
  ASSIGN_OR_RETURN(const Duration since, take_duration(decoder, what));
  return Instant{since};
}

Result<CollectiveClass> take_class(Decoder& decoder) {
  CollectiveClass what;
  ASSIGN_OR_RETURN(what.job.value, take_index(decoder, "the job"));
  ASSIGN_OR_RETURN(const std::uint64_t kind, decoder.number_up_to(kKindMax, "the kind of an op"));
  what.kind = static_cast<profile::OpKind>(kind);
  ASSIGN_OR_RETURN(what.communicator.value, take_index(decoder, "the communicator"));
  ASSIGN_OR_RETURN(const std::uint64_t bytes, decoder.number());
  what.bytes = Bytes{bytes};
  return what;
}

void put(Encoder& encoder, const InstancePartial& partial) {
  put(encoder, partial.what);
  encoder.number(partial.key.point_to_point ? 1 : 0);
  encoder.number(partial.key.source);
  encoder.number(partial.key.destination);
  encoder.number(partial.key.number);
  encoder.number(partial.key.iteration);
  encoder.number(partial.ranks);
  put(encoder, partial.shortest);
  put(encoder, partial.longest);
}

Result<InstancePartial> take_instance(Decoder& decoder) {
  InstancePartial partial;
  ASSIGN_OR_RETURN(partial.what, take_class(decoder));
  partial.key.job = partial.what.job;
  partial.key.communicator = partial.what.communicator;
  ASSIGN_OR_RETURN(const std::uint64_t pair, decoder.number_up_to(1, "point-to-point"));
  partial.key.point_to_point = pair == 1;
  ASSIGN_OR_RETURN(partial.key.source, take_index(decoder, "the source"));
  ASSIGN_OR_RETURN(partial.key.destination, take_index(decoder, "the destination"));
  ASSIGN_OR_RETURN(partial.key.number, take_index(decoder, "the number of a collective"));
  ASSIGN_OR_RETURN(partial.key.iteration, take_index(decoder, "the iteration"));
  ASSIGN_OR_RETURN(partial.ranks, take_index(decoder, "the count of ranks"));
  ASSIGN_OR_RETURN(partial.shortest, take_duration(decoder, "the shortest time"));
  ASSIGN_OR_RETURN(partial.longest, take_duration(decoder, "the longest time"));
  return partial;
}

void put(Encoder& encoder, const IterationPartial& partial) {
  encoder.number(partial.job.value);
  encoder.number(partial.iteration);
  encoder.number(partial.ranks);
  put(encoder, partial.longest);
  put(encoder, partial.waited);
  put(encoder, partial.appointment);
  put(encoder, partial.first_start);
  put(encoder, partial.last_done);
}

Result<IterationPartial> take_iteration(Decoder& decoder) {
  IterationPartial partial;
  ASSIGN_OR_RETURN(partial.job.value, take_index(decoder, "the job"));
  ASSIGN_OR_RETURN(partial.iteration, take_index(decoder, "the iteration"));
  ASSIGN_OR_RETURN(partial.ranks, take_index(decoder, "the count of ranks"));
  ASSIGN_OR_RETURN(partial.longest, take_duration(decoder, "the time of an iteration"));
  ASSIGN_OR_RETURN(partial.waited, take_duration(decoder, "the time waited"));
  ASSIGN_OR_RETURN(partial.appointment, take_instant(decoder, "the appointment"));
  ASSIGN_OR_RETURN(partial.first_start, take_instant(decoder, "the first start"));
  ASSIGN_OR_RETURN(partial.last_done, take_instant(decoder, "the last end"));
  return partial;
}

}  // namespace

Bytes class_bytes(const profile::Profile& profile, const profile::Op& op) {
  if (!op.peer_bytes) return op.bytes;
  const profile::PeerBytes& sizes = profile.peer_bytes[*op.peer_bytes];
  std::uint64_t most = 0;
  for (std::size_t source = 0; source < sizes.size; ++source) {
    std::uint64_t sent = 0;
    for (std::size_t peer = 0; peer < sizes.size; ++peer) {
      sent += sizes.bytes[source * sizes.size + peer].count();
    }
    most = std::max(most, sent);
  }
  return Bytes{most};
}

void encode(const PartialResults& results, Encoder& encoder) {
  encoder.number(results.instances.size());
  for (const InstancePartial& partial : results.instances) put(encoder, partial);
  encoder.number(results.iterations.size());
  for (const IterationPartial& partial : results.iterations) put(encoder, partial);
  encoder.number(results.rank_times.size());
  for (const RankTimes& times : results.rank_times) {
    put(encoder, times.what);
    times.times.encode(encoder);
  }
}

Result<PartialResults> decode_partial_results(Decoder& decoder) {
  PartialResults results;
  ASSIGN_OR_RETURN(const std::size_t instances, decoder.count(kInstanceSizeMin, "instances"));
  results.instances.reserve(instances);
  for (std::size_t i = 0; i < instances; ++i) {
    ASSIGN_OR_RETURN(InstancePartial partial, take_instance(decoder));
    results.instances.push_back(partial);
  }
  ASSIGN_OR_RETURN(const std::size_t iterations, decoder.count(kIterationSizeMin, "iterations"));
  results.iterations.reserve(iterations);
  for (std::size_t i = 0; i < iterations; ++i) {
    ASSIGN_OR_RETURN(IterationPartial partial, take_iteration(decoder));
    results.iterations.push_back(partial);
  }
  ASSIGN_OR_RETURN(const std::uint64_t rank_times,
                   decoder.number_up_to(kRankTimesMax, "the count of histograms"));
  for (std::uint64_t i = 0; i < rank_times; ++i) {
    ASSIGN_OR_RETURN(const CollectiveClass what, take_class(decoder));
    ASSIGN_OR_RETURN(DurationHistogram times, DurationHistogram::decode(decoder));
    results.rank_times.push_back({.what = what, .times = std::move(times)});
  }
  return results;
}

}  // namespace rehearsal::measure
