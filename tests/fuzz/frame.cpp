// What a peer may send: a stream of frames, in pieces, each an Envelope; bulk parts inside.
#include "core/protocol/frame.hpp"

#include <cstddef>
#include <cstdint>

#include "core/base/check.hpp"
#include "core/protocol/codec.hpp"
#include "core/protocol/parts.hpp"

using namespace rehearsal::protocol;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte says how the stream is cut.
  const std::size_t piece = std::size_t{data[0]} + 1;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  FrameDecoder decoder;
  PartAssembler assembler(64, "part");
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    if (!decoder.feed(stream.substr(at, piece))) break;
    while (const auto payload = decoder.next()) {
      CHECK(payload->size() <= kFrameBytesMax, "no payload over the cap");
      const auto envelope = decode(*payload);
      if (!envelope) continue;
      CHECK(decode(encode(*envelope)).has_value(), "what was decoded can be sent");
      if (envelope->has_profile_part()) {
        const auto& part = envelope->profile_part();
        (void)assembler.add({.size = part.size(), .offset = part.offset(), .bytes = part.part()});
        CHECK(assembler.received() <= 64, "no bulk over its cap");
      }
    }
  }
  return 0;
}
