#include "core/measure/agent_measurements.hpp"

#include <algorithm>

namespace rehearsal::measure {
namespace {

constexpr std::uint64_t kVersion = 4;
constexpr std::uint64_t kIndexMax = (std::uint64_t{1} << 32) - 1;
constexpr std::size_t kNicsMax = 64;
constexpr std::size_t kJobsMax = 1024;
constexpr std::size_t kTextMax = 256;
constexpr std::size_t kDeviceCountersMax = 1024;
constexpr std::uint64_t kNanosecondsMax = (std::uint64_t{1} << 62) - 1;

void put(Encoder& encoder, const std::optional<Bytes>& bytes) {
  encoder.number(bytes ? 1 : 0);
  if (bytes) encoder.number(bytes->count());
}

Result<Bytes> take_bytes(Decoder& decoder) {
  ASSIGN_OR_RETURN(const std::uint64_t count, decoder.number());
  return Bytes{count};
}

Result<std::optional<Bytes>> take_optional_bytes(Decoder& decoder) {
  ASSIGN_OR_RETURN(const std::uint64_t there,
                   decoder.number_up_to(1, "whether a counter was read"));
  if (there == 0) return std::optional<Bytes>{};
  ASSIGN_OR_RETURN(const Bytes bytes, take_bytes(decoder));
  return std::optional<Bytes>{bytes};
}

void put(Encoder& encoder, const JobBytes& job) {
  encoder.number(job.job.value);
  encoder.number(job.sent.count());
  encoder.number(job.received.count());
  encoder.number(job.local.count());
}

Result<JobBytes> take_job(Decoder& decoder) {
  JobBytes job;
  ASSIGN_OR_RETURN(const std::uint64_t index, decoder.number_up_to(kIndexMax, "the job"));
  job.job = JobIndex{static_cast<std::uint32_t>(index)};
  ASSIGN_OR_RETURN(job.sent, take_bytes(decoder));
  ASSIGN_OR_RETURN(job.received, take_bytes(decoder));
  ASSIGN_OR_RETURN(job.local, take_bytes(decoder));
  return job;
}

void put(Encoder& encoder, const NicMeasurements& nic) {
  encoder.number(nic.nic.value);
  encoder.number(nic.sent.count());
  encoder.number(nic.received.count());
  encoder.number(nic.background_sent.count());
  encoder.number(nic.background_received.count());
  put(encoder, nic.counter_sent);
  put(encoder, nic.counter_received);
  encoder.number(nic.device_counters.size());
  for (const CounterRise& counter : nic.device_counters) {
    encoder.text(counter.name);
    encoder.number(counter.rise);
  }
  encoder.number(static_cast<std::uint64_t>(std::max<std::int64_t>(nic.counters_span.count(), 0)));
  encode(nic.sent_series, encoder);
  encode(nic.received_series, encoder);
  encoder.number(nic.wire ? 1 : 0);
  if (!nic.wire) return;
  encoder.text(nic.wire->sent_source);
  encoder.text(nic.wire->received_source);
  encode(nic.wire->sent, encoder);
  encode(nic.wire->received, encoder);
}

// `bins_left`: how many bins the agent's series may still have.
Result<ByteSeries> take_series(Decoder& decoder, std::size_t& bins_left) {
  ASSIGN_OR_RETURN(ByteSeries series, decode_byte_series(decoder, std::min(bins_left, kBinsMax)));
  bins_left -= series.bytes.size();
  return series;
}

Result<NicMeasurements> take_nic(Decoder& decoder, std::size_t& bins_left) {
  NicMeasurements nic;
  ASSIGN_OR_RETURN(const std::uint64_t index, decoder.number_up_to(kIndexMax, "the NIC"));
  nic.nic = NicIndex{static_cast<std::uint32_t>(index)};
  ASSIGN_OR_RETURN(nic.sent, take_bytes(decoder));
  ASSIGN_OR_RETURN(nic.received, take_bytes(decoder));
  ASSIGN_OR_RETURN(nic.background_sent, take_bytes(decoder));
  ASSIGN_OR_RETURN(nic.background_received, take_bytes(decoder));
  ASSIGN_OR_RETURN(nic.counter_sent, take_optional_bytes(decoder));
  ASSIGN_OR_RETURN(nic.counter_received, take_optional_bytes(decoder));
  ASSIGN_OR_RETURN(const std::uint64_t counters,
                   decoder.number_up_to(kDeviceCountersMax, "the count of device counters"));
  for (std::uint64_t i = 0; i < counters; ++i) {
    CounterRise& counter = nic.device_counters.emplace_back();
    ASSIGN_OR_RETURN(counter.name, decoder.text(kTextMax));
    ASSIGN_OR_RETURN(counter.rise, decoder.number());
  }
  ASSIGN_OR_RETURN(const std::uint64_t span,
                   decoder.number_up_to(kNanosecondsMax, "the span of the counters"));
  nic.counters_span = Duration{static_cast<std::int64_t>(span)};
  ASSIGN_OR_RETURN(nic.sent_series, take_series(decoder, bins_left));
  ASSIGN_OR_RETURN(nic.received_series, take_series(decoder, bins_left));
  ASSIGN_OR_RETURN(const std::uint64_t watched,
                   decoder.number_up_to(1, "whether counters were watched"));
  if (watched == 0) return nic;
  WireMeasurements& wire = nic.wire.emplace();
  ASSIGN_OR_RETURN(wire.sent_source, decoder.text(kTextMax));
  ASSIGN_OR_RETURN(wire.received_source, decoder.text(kTextMax));
  ASSIGN_OR_RETURN(wire.sent, take_series(decoder, bins_left));
  ASSIGN_OR_RETURN(wire.received, take_series(decoder, bins_left));
  return nic;
}

void put(Encoder& encoder, const TransportFacts& facts) {
  encoder.text(facts.kind);
  encoder.text(facts.byte_source);
  encoder.text(facts.congestion_control);
  encoder.text(facts.receive);
  encoder.number(facts.copied.count());
  encoder.number(facts.discarded.count());
  encoder.number(facts.system_calls);
  encoder.number(static_cast<std::uint64_t>(std::max<std::int64_t>(facts.turn_max.count(), 0)));
  encoder.number(facts.bound.size());
  for (const std::string& line : facts.bound) encoder.text(line);
}

Result<TransportFacts> take_facts(Decoder& decoder) {
  TransportFacts facts;
  ASSIGN_OR_RETURN(facts.kind, decoder.text(kTextMax));
  ASSIGN_OR_RETURN(facts.byte_source, decoder.text(kTextMax));
  ASSIGN_OR_RETURN(facts.congestion_control, decoder.text(kTextMax));
  ASSIGN_OR_RETURN(facts.receive, decoder.text(kTextMax));
  ASSIGN_OR_RETURN(facts.copied, take_bytes(decoder));
  ASSIGN_OR_RETURN(facts.discarded, take_bytes(decoder));
  ASSIGN_OR_RETURN(facts.system_calls, decoder.number());
  ASSIGN_OR_RETURN(const std::uint64_t turn, decoder.number_up_to(kNanosecondsMax, "longest turn"));
  facts.turn_max = Duration{static_cast<std::int64_t>(turn)};
  ASSIGN_OR_RETURN(const std::uint64_t bound, decoder.number_up_to(kNicsMax + 1, "what is bound"));
  for (std::uint64_t i = 0; i < bound; ++i) {
    ASSIGN_OR_RETURN(facts.bound.emplace_back(), decoder.text(kTextMax));
  }
  return facts;
}

}  // namespace

std::string encode(const AgentMeasurements& measurements) {
  Encoder encoder;
  encoder.number(kVersion);
  encode(measurements.results, encoder);
  encoder.number(measurements.jobs.size());
  for (const JobBytes& job : measurements.jobs) put(encoder, job);
  encoder.number(measurements.nics.size());
  for (const NicMeasurements& nic : measurements.nics) put(encoder, nic);
  put(encoder, measurements.transport);
  encode(measurements.faults, encoder);
  encode(measurements.flow_times, encoder);
  return encoder.take();
}

Result<AgentMeasurements> decode_agent_measurements(std::string_view bytes) {
  Decoder decoder(bytes);
  AgentMeasurements measurements;
  ASSIGN_OR_RETURN(const std::uint64_t version, decoder.number());
  if (version != kVersion) {
    return fail(ErrorCode::unsupported, ErrorSource::control,
                "measurements of version " + std::to_string(version) + ", version " +
                    std::to_string(kVersion) + " is understood");
  }
  ASSIGN_OR_RETURN(measurements.results, decode_partial_results(decoder));
  ASSIGN_OR_RETURN(const std::uint64_t jobs, decoder.number_up_to(kJobsMax, "the count of jobs"));
  for (std::uint64_t i = 0; i < jobs; ++i) {
    ASSIGN_OR_RETURN(const JobBytes job, take_job(decoder));
    measurements.jobs.push_back(job);
  }
  ASSIGN_OR_RETURN(const std::uint64_t nics, decoder.number_up_to(kNicsMax, "the count of NICs"));
  std::size_t bins_left = kBinsOfAgentMax;
  for (std::uint64_t i = 0; i < nics; ++i) {
    ASSIGN_OR_RETURN(NicMeasurements nic, take_nic(decoder, bins_left));
    measurements.nics.push_back(std::move(nic));
  }
  ASSIGN_OR_RETURN(measurements.transport, take_facts(decoder));
  ASSIGN_OR_RETURN(measurements.faults, decode_fault_measurements(decoder));
  ASSIGN_OR_RETURN(measurements.flow_times, decode_flow_measurements(decoder));
  if (decoder.remaining() != 0) {
    return fail(ErrorCode::protocol, ErrorSource::control,
                std::to_string(decoder.remaining()) + " bytes follow the measurements");
  }
  return measurements;
}

}  // namespace rehearsal::measure
