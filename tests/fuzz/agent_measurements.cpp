// The measurements that an agent sends at the end of a run: partial results, histograms, series.
#include "core/measure/agent_measurements.hpp"

#include <cstddef>
#include <cstdint>

#include "core/base/check.hpp"

using namespace rehearsal;
using namespace rehearsal::measure;

namespace {

void decode_histogram(std::string_view bytes) {
  Decoder decoder(bytes);
  const auto histogram = DurationHistogram::decode(decoder);
  if (!histogram) return;
  Encoder encoder;
  histogram->encode(encoder);
  Decoder again(encoder.bytes());
  const auto back = DurationHistogram::decode(again);
  CHECK(back.has_value(), "what was decoded can be sent");
  CHECK(back->summary() == histogram->summary(), "and comes back the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  decode_histogram(bytes);
  const auto measurements = decode_agent_measurements(bytes);
  if (measurements) {
    const auto back = decode_agent_measurements(encode(*measurements));
    CHECK(back.has_value(), "what was decoded can be sent");
    CHECK(back->nics.size() == measurements->nics.size(), "and nothing is lost");
    CHECK(back->flow_times == measurements->flow_times, "nor changed");
  }
  return 0;
}
