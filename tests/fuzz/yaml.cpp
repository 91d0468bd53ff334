// Any bytes are a document or an error; whatever was read can be asked anything.

#include "core/yaml/yaml.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/check.hpp"

namespace {

using rehearsal::yaml::Node;

void ask_everything(const Node& node) {
  CHECK(node.position().starts_with("fuzz.yaml:"), "every place has a position");
  (void)node.text();
  (void)node.integer(0, 1000);
  (void)node.boolean();
  (void)node.bytes();
  (void)node.duration();
  (void)node.bit_rate();
  (void)node.as_mapping({"name", "hosts"});
  if (const auto items = node.items()) {
    for (const Node& item : *items) ask_everything(item);
  }
  if (const auto entries = node.entries()) {
    for (const auto& [key, value] : *entries) ask_everything(value);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto document =
      rehearsal::yaml::parse({reinterpret_cast<const char*>(data), size}, "fuzz.yaml");
  if (document) {
    ask_everything(document->root());
  } else {
    CHECK(document.error().message.starts_with("fuzz.yaml:"), "every error names the file");
  }
  return 0;
}
