// A Kineto trace of one rank.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/check.hpp"
#include "core/import/import.hpp"
#include "core/profile/profile.hpp"

using namespace rehearsal;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string content(reinterpret_cast<const char*>(data), size);
  const auto profile = importer::import_capture({{"rank0.json", content}}, "fuzz");
  if (profile) {
    CHECK(profile::problems(*profile).empty(), "an imported profile is valid");
  } else {
    CHECK(!profile.error().text().empty(), "an error says something");
  }
  return 0;
}
