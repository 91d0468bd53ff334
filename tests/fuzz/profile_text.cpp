// A YAML profile that somebody wrote.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/check.hpp"
#include "core/profile/profile.hpp"
#include "core/profile/show.hpp"
#include "core/profile/text.hpp"

using namespace rehearsal;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto profile = profile::from_text(text, "fuzz.yaml");
  if (!profile) {
    CHECK(profile.error().text().find("fuzz.yaml") != std::string::npos, "an error names the file");
    return 0;
  }
  if (!profile::problems(*profile).empty()) return 0;
  CHECK(!profile::show(*profile).empty(), "a valid profile can be shown");
  const std::string written = profile::to_text(*profile);
  const bool plain = std::all_of(written.begin(), written.end(),
                                 [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
  if (!plain || written.size() > 900'000) return 0;
  const auto again = profile::from_text(written, "fuzz.yaml");
  CHECK(again && *again == *profile, "what was read can be written and read again");
  return 0;
}
