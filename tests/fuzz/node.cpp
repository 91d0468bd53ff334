// Any bytes are a description of a node that is whole, or an error that says something.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/check.hpp"
#include "core/fabric/read.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rehearsal;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto node = fabric::read_node(text, "fuzz");
  if (node) {
    CHECK(fabric::check(*node).has_value(), "a node that was read is whole");
  } else {
    CHECK(node.error().message.starts_with("fuzz"), "every error names the file");
  }
  return 0;
}
