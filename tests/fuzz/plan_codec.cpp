// Any bytes are a plan that can be written again as the same plan, or an error.

#include "core/plan/plan_codec.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto plan = rehearsal::plan::decode({reinterpret_cast<const char*>(data), size});
  if (!plan) return 0;
  const auto again = rehearsal::plan::decode(rehearsal::plan::encode(*plan));
  CHECK(again.has_value(), "what was written is read");
  CHECK(rehearsal::plan::plan_hash(*again) == rehearsal::plan::plan_hash(*plan), "the same plan");
  return 0;
}
