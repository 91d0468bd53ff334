// Any value of any of NCCL's variables is taken, or refused with a reason and without a trace.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/check.hpp"
#include "core/collective/forced.hpp"
#include "core/collective/tuning.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rehearsal;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t equals = text.find('=');
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1);
  collective::Forced forced;
  const auto taken = collective::force(forced, text.substr(0, equals), value);
  if (!taken) {
    CHECK(forced == collective::Forced{}, "a refused value changes nothing");
    CHECK(!taken.error().message.empty(), "a refusal has its reason");
    return 0;
  }
  const collective::System system = {.nodes = 2, .ranks = 16, .graphs = {}};
  const auto choice =
      collective::choose(profile::OpKind::all_reduce, Bytes{1U << 20}, system, forced);
  if (choice) {
    CHECK(choice->channels >= 1 && choice->channels <= 64, "channels within NCCL's");
    CHECK(choice->chunk >= Bytes{1}, "a chunk holds something");
    CHECK(choice->credits > choice->slices_per_chunk, "a ring never waits for itself");
  }
  return 0;
}
