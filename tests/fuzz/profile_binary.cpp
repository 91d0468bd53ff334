// A binary profile from anywhere: as it is, and with the checksum that belongs to it, so that what
// lies behind the checksum is reached.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/check.hpp"
#include "core/base/encoding.hpp"
#include "core/profile/binary.hpp"
#include "core/profile/profile.hpp"
#include "core/profile/show.hpp"

using namespace rehearsal;

namespace {

void try_bytes(std::string_view bytes) {
  const auto profile = profile::from_binary(bytes);
  if (!profile) {
    CHECK(profile.error().text().find("byte ") != std::string::npos, "an error names the byte");
    return;
  }
  const auto again = profile::from_binary(profile::to_binary(*profile));
  CHECK(again && *again == *profile, "what was read can be written and read again");
  if (!profile::problems(*profile).empty()) return;
  CHECK(!profile::show(*profile).empty(), "a valid profile can be shown");
  CHECK(!profile::to_json(*profile).empty(), "a valid profile can be shown as JSON");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try_bytes(bytes);
  const std::string_view content = bytes.substr(0, size < 64 ? size : size - 64);
  try_bytes(std::string(content) + sha256_hex(content));
  return 0;
}
