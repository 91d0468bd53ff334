// Any bytes are a drill whose parts are sound, or an error with a place.

#include "core/plan/drill_text.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/check.hpp"
#include "core/plan/checks.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto drill =
      rehearsal::plan::parse_drill({reinterpret_cast<const char*>(data), size}, "fuzz.yaml");
  if (drill) {
    CHECK(rehearsal::plan::check_all(*drill).has_value(), "a drill that was read is sound");
  } else {
    CHECK(drill.error().message.starts_with("fuzz.yaml:"), "every error names the file");
  }
  return 0;
}
