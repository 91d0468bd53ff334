#include "core/measure/flow_times.hpp"

#include <algorithm>

#include "core/base/check.hpp"

namespace rehearsal::measure {
namespace {

constexpr std::uint64_t kIndexMax = (std::uint64_t{1} << 32) - 1;
constexpr std::uint64_t kNanosecondsMax = (std::uint64_t{1} << 62) - 1;
// A flow's numbers (job, source, destination, NIC, ends) and a mask of its windows.
constexpr std::size_t kFlowBytesMin = 6;
constexpr std::size_t kRankBytesMin = 2;

void put(Encoder& encoder, Duration duration) {
  encoder.number(static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0)));
}

Result<Duration> take_duration(Decoder& decoder) {
  ASSIGN_OR_RETURN(const std::uint64_t count, decoder.number_up_to(kNanosecondsMax, "a duration"));
  return Duration{static_cast<std::int64_t>(count)};
}

Result<std::uint32_t> take_index(Decoder& decoder, std::string_view what) {
  ASSIGN_OR_RETURN(const std::uint64_t index, decoder.number_up_to(kIndexMax, what));
  return static_cast<std::uint32_t>(index);
}

void put(Encoder& encoder, const FlowTimes& flow) {
  encoder.number(flow.job.value);
  encoder.number(flow.source.value);
  encoder.number(flow.destination.value);
  encoder.number(flow.nic.value);
  encoder.number((flow.outgoing ? 1U : 0U) | (flow.local ? 2U : 0U));
  // Windows in which nothing happened are a bit each.
  std::uint64_t there = 0;
  for (std::size_t i = 0; i < flow.windows.size(); ++i) {
    if (flow.windows[i] != FlowFigures{}) there |= std::uint64_t{1} << i;
  }
  encoder.number(there);
  for (const FlowFigures& figures : flow.windows) {
    if (figures == FlowFigures{}) continue;
    encoder.number(figures.messages);
    encoder.number(figures.bytes.count());
    put(encoder, figures.held);
    put(encoder, figures.stood);
    encoder.number(figures.instants);
  }
}

Result<FlowTimes> take_flow(Decoder& decoder, std::size_t windows) {
  FlowTimes flow;
  ASSIGN_OR_RETURN(flow.job.value, take_index(decoder, "the job"));
  ASSIGN_OR_RETURN(flow.source.value, take_index(decoder, "the source"));
  ASSIGN_OR_RETURN(flow.destination.value, take_index(decoder, "the destination"));
  ASSIGN_OR_RETURN(flow.nic.value, take_index(decoder, "the NIC"));
  ASSIGN_OR_RETURN(const std::uint64_t ends, decoder.number_up_to(3, "the end of a flow"));
  flow.outgoing = (ends & 1U) != 0;
  flow.local = (ends & 2U) != 0;
  ASSIGN_OR_RETURN(const std::uint64_t there,
                   decoder.number_up_to((std::uint64_t{1} << windows) - 1, "windows of a flow"));
  flow.windows.resize(windows);
  for (std::size_t i = 0; i < windows; ++i) {
    if (((there >> i) & 1U) == 0) continue;
    FlowFigures& figures = flow.windows[i];
    ASSIGN_OR_RETURN(figures.messages, decoder.number());
    ASSIGN_OR_RETURN(const std::uint64_t bytes, decoder.number());
    figures.bytes = Bytes{bytes};
    ASSIGN_OR_RETURN(figures.held, take_duration(decoder));
    ASSIGN_OR_RETURN(figures.stood, take_duration(decoder));
    ASSIGN_OR_RETURN(figures.instants, decoder.number());
  }
  return flow;
}

Result<std::vector<std::uint32_t>> take_windows(Decoder& decoder) {
  ASSIGN_OR_RETURN(const std::uint64_t count,
                   decoder.number_up_to(kWindowsMax, "the count of windows"));
  std::vector<std::uint32_t> windows;
  for (std::uint64_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const std::uint32_t begin, take_index(decoder, "the begin of a window"));
    const bool right = windows.empty() ? begin == 0 : begin > windows.back();
    if (!right) {
      return fail(ErrorCode::protocol, ErrorSource::control,
                  "window " + std::to_string(i) + " begins at iteration " + std::to_string(begin));
    }
    windows.push_back(begin);
  }
  return windows;
}

}  // namespace

std::vector<std::uint32_t> windows_of(std::uint32_t iterations,
                                      std::span<const std::uint32_t> edges) {
  std::vector<std::uint32_t> stages = {0};
  for (const std::uint32_t edge : edges) {
    if (edge > stages.back() && edge < iterations && stages.size() < kWindowsMax) {
      stages.push_back(edge);
    }
  }
  std::vector<std::uint32_t> windows;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const std::uint64_t begin = stages[i];
    const std::uint64_t end = i + 1 < stages.size() ? stages[i + 1] : iterations;
    // Each stage has a window; what is left over goes to the stages by their length.
    const std::uint64_t spare = kWindowsMax - stages.size();
    const std::uint64_t share = 1 + spare * (end - begin) / std::max(iterations, 1U);
    const std::uint64_t parts = std::min(share, std::max<std::uint64_t>(end - begin, 1));
    for (std::uint64_t part = 0; part < parts; ++part) {
      windows.push_back(static_cast<std::uint32_t>(begin + (end - begin) * part / parts));
    }
  }
  return windows;
}

std::size_t window_of(std::span<const std::uint32_t> windows, std::uint32_t iteration) noexcept {
  const auto after = std::upper_bound(windows.begin(), windows.end(), iteration);
  return static_cast<std::size_t>(after - windows.begin()) - 1;
}

void encode(const FlowMeasurements& measurements, Encoder& encoder) {
  const std::size_t windows = measurements.windows.size();
  CHECK(windows <= kWindowsMax, "a run has at most kWindowsMax windows");
  encoder.number(windows);
  for (const std::uint32_t begin : measurements.windows) encoder.number(begin);
  encoder.number(measurements.flows.size());
  for (const FlowTimes& flow : measurements.flows) {
    CHECK(flow.windows.size() == windows, "a flow has figures for each window");
    put(encoder, flow);
  }
  encoder.number(measurements.ranks.size());
  for (const ComputeTimes& rank : measurements.ranks) {
    CHECK(rank.windows.size() == windows, "a rank has figures for each window");
    encoder.number(rank.job.value);
    encoder.number(rank.rank.value);
    for (const ComputeFigures& figures : rank.windows) {
      put(encoder, figures.computed);
      put(encoder, figures.late);
    }
  }
}

Result<FlowMeasurements> decode_flow_measurements(Decoder& decoder) {
  FlowMeasurements measurements;
  ASSIGN_OR_RETURN(measurements.windows, take_windows(decoder));
  const std::size_t windows = measurements.windows.size();
  ASSIGN_OR_RETURN(const std::size_t flows, decoder.count(kFlowBytesMin, "flows"));
  if (flows * windows > kFlowCellsMax) {
    return fail(ErrorCode::protocol, ErrorSource::control,
                std::to_string(flows) + " flows in " + std::to_string(windows) +
                    " windows, at most " + std::to_string(kFlowCellsMax) + " figures are possible");
  }
  for (std::size_t i = 0; i < flows; ++i) {
    ASSIGN_OR_RETURN(FlowTimes flow, take_flow(decoder, windows));
    measurements.flows.push_back(std::move(flow));
  }
  ASSIGN_OR_RETURN(const std::size_t ranks, decoder.count(kRankBytesMin + 2 * windows, "ranks"));
  for (std::size_t i = 0; i < ranks; ++i) {
    ComputeTimes& rank = measurements.ranks.emplace_back();
    ASSIGN_OR_RETURN(rank.job.value, take_index(decoder, "the job"));
    ASSIGN_OR_RETURN(rank.rank.value, take_index(decoder, "the rank"));
    for (std::size_t window = 0; window < windows; ++window) {
      ComputeFigures& figures = rank.windows.emplace_back();
      ASSIGN_OR_RETURN(figures.computed, take_duration(decoder));
      ASSIGN_OR_RETURN(figures.late, take_duration(decoder));
    }
  }
  return measurements;
}

}  // namespace rehearsal::measure
