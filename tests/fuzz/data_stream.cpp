// What anyone may send to a data socket: a hello, an answer, a stream of messages in pieces; and an
// address as the control channel carries it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "agent/transport/tcp/handshake.hpp"
#include "agent/transport/tcp/stream.hpp"
#include "core/base/check.hpp"

using namespace rehearsal;

namespace {

constexpr std::uint64_t kMessageBytesMax = 4096;

void greet(std::string_view bytes) {
  tcp::Hello hello{};
  std::copy_n(bytes.data(), std::min(bytes.size(), hello.size()), hello.data());
  if (const auto parts = tcp::decode_hello(hello)) {
    CHECK(tcp::encode_hello(parts->key, parts->proof) == hello, "a hello is read as it was said");
    const tcp::Proofs ours = tcp::make_proofs("a token that is not theirs", parts->key);
    CHECK(!tcp::same_proof(ours.hello, parts->proof), "nobody guesses a proof");
  }
  tcp::Answer answer{};
  std::copy_n(bytes.data(), std::min(bytes.size(), answer.size()), answer.data());
  if (const auto proof = tcp::decode_answer(answer)) {
    CHECK(tcp::encode_answer(*proof) == answer, "an answer is read as it was said");
  }
  if (const auto address = tcp::decode_address(std::string(bytes))) {
    const auto again = tcp::decode_address(tcp::encode_address(*address));
    CHECK(again && again->port == address->port && again->ip == address->ip &&
              again->key == address->key,
          "an address is read as it was said");
  }
}

void read_stream(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t piece = static_cast<std::uint8_t>(bytes[0]) + std::size_t{1};
  tcp::StreamReader reader(kMessageBytesMax);
  std::uint64_t next = 0;
  for (std::size_t at = 1; at < bytes.size();) {
    const auto part = bytes.substr(at, piece);
    const auto taken = reader.take(std::as_bytes(std::span(part)));
    if (taken.out_of_step) return;
    CHECK(taken.bytes > 0 && taken.bytes <= part.size(), "a reader that is in step goes on");
    CHECK(reader.payload_remaining() <= kMessageBytesMax, "no message over its limit");
    if (taken.message) {
      CHECK(reader.message().sequence == next, "messages come in order");
      ++next;
    }
    at += taken.bytes;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  greet(bytes);
  read_stream(bytes);
  return 0;
}
