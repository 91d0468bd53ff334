#include "agent/transport/tcp/handshake.hpp"

#include <algorithm>
#include <limits>

#include "core/base/check.hpp"
#include "core/base/encoding.hpp"

namespace rehearsal::tcp {
namespace {

constexpr std::string_view kHelloMagic = "RHSLtcp1";
constexpr std::string_view kAnswerMagic = "RHSLack1";
static_assert(kHelloMagic.size() == kMagicSize && kAnswerMagic.size() == kMagicSize);

constexpr std::uint64_t kAddressVersion = 1;
constexpr std::size_t kIpTextMax = 45;  // INET6_ADDRSTRLEN − 1

using KeyBytes = std::array<char, kKeySize>;

void put(char*& out, std::uint64_t value, std::size_t size) noexcept {
  for (std::size_t i = 0; i < size; ++i) *out++ = static_cast<char>((value >> (8 * i)) & 0xff);
}

std::uint64_t get(const char*& in, std::size_t size) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value |= std::uint64_t{static_cast<unsigned char>(*in++)} << (8 * i);
  return value;
}

KeyBytes encode_key(const plan::ConnectionKey& key) noexcept {
  KeyBytes bytes{};
  char* out = bytes.data();
  put(out, key.job.value, 4);
  put(out, key.communicator.value, 4);
  put(out, key.source.value, 4);
  put(out, key.destination.value, 4);
  put(out, key.channel, 2);
  put(out, static_cast<std::uint64_t>(key.use), 1);
  return bytes;
}

std::optional<plan::ConnectionKey> decode_key(const char* in) noexcept {
  plan::ConnectionKey key;
  key.job.value = static_cast<std::uint32_t>(get(in, 4));
  key.communicator.value = static_cast<std::uint32_t>(get(in, 4));
  key.source.value = static_cast<std::uint32_t>(get(in, 4));
  key.destination.value = static_cast<std::uint32_t>(get(in, 4));
  key.channel = static_cast<std::uint16_t>(get(in, 2));
  const std::uint64_t use = get(in, 1);
  if (use > static_cast<std::uint64_t>(plan::kConnectionUseLast)) return std::nullopt;
  key.use = static_cast<plan::ConnectionUse>(use);
  if (get(in, 1) != 0) return std::nullopt;  // reserved
  return key;
}

Proof make_proof(std::string_view direction, std::string_view token,
                 const plan::ConnectionKey& key) {
  const KeyBytes key_bytes = encode_key(key);
  Encoder encoder;
  encoder.text(direction);
  encoder.text(token);
  encoder.text(std::string_view(key_bytes.data(), key_bytes.size()));
  const std::string digest = sha256_hex(encoder.bytes());
  CHECK(digest.size() == kProofSize, "a proof is a SHA-256 in hexadecimal digits");
  Proof proof;
  std::copy(digest.begin(), digest.end(), proof.begin());
  return proof;
}

}  // namespace

Proofs make_proofs(std::string_view token, const plan::ConnectionKey& key) {
  return {.hello = make_proof("rehearsal tcp hello", token, key),
          .answer = make_proof("rehearsal tcp answer", token, key)};
}

Hello encode_hello(const plan::ConnectionKey& key, const Proof& proof) noexcept {
  Hello hello;
  const KeyBytes key_bytes = encode_key(key);
  auto out = std::copy(kHelloMagic.begin(), kHelloMagic.end(), hello.begin());
  out = std::copy(key_bytes.begin(), key_bytes.end(), out);
  std::copy(proof.begin(), proof.end(), out);
  return hello;
}

Answer encode_answer(const Proof& proof) noexcept {
  Answer answer;
  auto out = std::copy(kAnswerMagic.begin(), kAnswerMagic.end(), answer.begin());
  std::copy(proof.begin(), proof.end(), out);
  return answer;
}

std::optional<HelloParts> decode_hello(const Hello& bytes) noexcept {
  if (!std::equal(kHelloMagic.begin(), kHelloMagic.end(), bytes.begin())) return std::nullopt;
  const auto key = decode_key(bytes.data() + kMagicSize);
  if (!key) return std::nullopt;
  HelloParts parts{.key = *key, .proof = {}};
  std::copy_n(bytes.data() + kMagicSize + kKeySize, kProofSize, parts.proof.begin());
  return parts;
}

std::optional<Proof> decode_answer(const Answer& bytes) noexcept {
  if (!std::equal(kAnswerMagic.begin(), kAnswerMagic.end(), bytes.begin())) return std::nullopt;
  Proof proof;
  std::copy_n(bytes.data() + kMagicSize, kProofSize, proof.begin());
  return proof;
}

bool same_proof(const Proof& left, const Proof& right) noexcept {
  unsigned difference = 0;
  for (std::size_t i = 0; i < kProofSize; ++i)
    difference |= static_cast<unsigned char>(left[i]) ^ static_cast<unsigned char>(right[i]);
  return difference == 0;
}

replay::Address encode_address(const AddressParts& parts) {
  const KeyBytes key = encode_key(parts.key);
  Encoder encoder;
  encoder.number(kAddressVersion);
  encoder.text(parts.ip);
  encoder.number(parts.port);
  encoder.text(std::string_view(key.data(), key.size()));
  return encoder.take();
}

Result<AddressParts> decode_address(const replay::Address& address) {
  const auto wrong = [](std::string_view what) {
    return fail(ErrorCode::protocol, ErrorSource::transport,
                "not the address of a TCP connection: " + std::string(what));
  };
  Decoder decoder(address);
  ASSIGN_OR_RETURN(const auto version, decoder.number());
  if (version != kAddressVersion) return wrong("version " + std::to_string(version));
  AddressParts parts;
  ASSIGN_OR_RETURN(parts.ip, decoder.text(kIpTextMax));
  ASSIGN_OR_RETURN(const auto port,
                   decoder.number_up_to(std::numeric_limits<std::uint16_t>::max(), "port"));
  parts.port = static_cast<std::uint16_t>(port);
  ASSIGN_OR_RETURN(const auto key_text, decoder.text(kKeySize));
  if (key_text.size() != kKeySize || decoder.remaining() != 0) return wrong("its length");
  const auto key = decode_key(key_text.data());
  if (!key) return wrong("its key");
  parts.key = *key;
  return parts;
}

}  // namespace rehearsal::tcp
