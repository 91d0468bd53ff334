// Byte series: what an agent may send, and bins that see any instant.
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "core/base/check.hpp"
#include "core/measure/arrival_curve.hpp"
#include "core/measure/burst.hpp"

using namespace rehearsal;
using namespace rehearsal::measure;

namespace {

// What was decoded must be encodable, and come back the same.
void decode_series(std::string_view bytes) {
  Decoder decoder(bytes);
  const auto series = decode_byte_series(decoder, 4096);
  if (!series) return;
  CHECK(series->bytes.size() <= 4096, "no more bins than allowed");
  Encoder encoder;
  encode(*series, encoder);
  Decoder again(encoder.bytes());
  const auto back = decode_byte_series(again, 4096);
  CHECK(back.has_value(), "what was decoded can be sent");
  CHECK(back->total() == series->total(), "and nothing is lost");
  const auto runs = bins_of(runs_of(series->bytes));
  CHECK(runs.has_value() && *runs == series->bytes, "runs hold the same bins");
  (void)burst_statistics(
      *series, series->origin,
      series->origin + series->bin * static_cast<std::int64_t>(series->bytes.size()), BitRate{0});
}

// Pairs of bytes: how far time goes on (as a power of two, or back), and how much arrives.
void count_bytes(std::string_view script) {
  const Instant origin{std::chrono::seconds{1}};
  ByteBins bins(origin, 16, Duration{100});
  Instant at = origin;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i + 1 < script.size(); i += 2) {
    const auto step = static_cast<std::uint8_t>(script[i]);
    const Duration distance{std::int64_t{1} << (step % 40)};
    at = step >= 128 ? std::max(at - distance, Instant{}) : at + distance;
    const auto bytes = static_cast<std::uint8_t>(script[i + 1]);
    bins.add(at, bytes);
    total += bytes;
    CHECK(bins.bytes().size() <= 16, "bins stay within their capacity");
  }
  CHECK(bins.series().total() == total, "no byte is lost by widening");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  decode_series(bytes);
  count_bytes(bytes.substr(0, 512));
  return 0;
}
