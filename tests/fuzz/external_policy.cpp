// Any text is a policy or an error that says where.

#include "core/fault/external_policy.hpp"

#include <cstddef>
#include <cstdint>

#include "core/base/check.hpp"

using namespace rehearsal::fault;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto policy = read_external_policy(text, "policy.yaml");
  if (!policy) {
    CHECK(!policy.error().text().empty(), "an error says what is wrong");
    return 0;
  }
  for (const AllowedCommand& command : policy->commands) {
    CHECK(command.executable.starts_with('/'), "a program has an absolute path");
    CHECK(command.told.duration_max <= kFaultDurationMost, "within its limits");
    CHECK(command.told.time_max <= 6 * kCommandLimitMost, "within its limits");
    CHECK(is_command_name(command.told.name), "nothing else can be asked for");
  }
  return 0;
}
