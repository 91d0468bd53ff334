// What anybody who may connect can send to the helper, and what an agent hears from it.

#include "core/fault/helper_messages.hpp"

#include <cstddef>
#include <cstdint>

#include "core/base/check.hpp"

using namespace rehearsal::fault;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto request = decode_request(bytes)) {
    CHECK(decode_request(encode(*request)) == *request, "what was read can be written");
    if (const auto* apply = std::get_if<ApplyRequest>(&*request)) {
      (void)check(apply->request.fault);
      (void)describe(apply->request.fault);
    }
  }
  if (const auto reply = decode_reply(bytes)) {
    CHECK(decode_reply(encode(*reply)) == *reply, "what was read can be written");
  }
  return 0;
}
