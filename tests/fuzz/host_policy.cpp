// Any text is a policy or an error that says where.

#include "core/fault/host_policy.hpp"

#include <cstddef>
#include <cstdint>

#include "core/base/check.hpp"

using namespace rehearsal::fault;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto policy = read_host_policy(text, "policy.yaml");
  if (!policy) {
    CHECK(!policy.error().text().empty(), "an error says what is wrong");
    return 0;
  }
  CHECK(policy->duration_max <= kFaultDurationMost, "within its limits");
  return 0;
}
