#include "core/base/encoding.hpp"

#include <openssl/evp.h>

#include <array>

#include "core/base/check.hpp"

namespace rehearsal {

void Encoder::number(std::uint64_t value) {
  while (value >= 0x80) {
    bytes_.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  bytes_.push_back(static_cast<char>(value));
}

void Encoder::text(std::string_view value) {
  number(value.size());
  bytes_ += value;
}

Failure Decoder::wrong(std::string_view what) const {
  return invalid("byte " + std::to_string(offset_) + ": " + std::string(what));
}

Result<std::uint64_t> Decoder::number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (offset_ == bytes_.size()) return wrong("the data ends inside a number (truncated?)");
    const auto byte = static_cast<std::uint8_t>(bytes_[offset_++]);
    if (shift == 63 && byte > 1) return wrong("a number does not fit 64 bits");
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return wrong("a number is longer than ten bytes");
}

Result<std::uint64_t> Decoder::number_up_to(std::uint64_t most, std::string_view what) {
  ASSIGN_OR_RETURN(const std::uint64_t value, number());
  if (value > most) {
    return wrong(std::string(what) + " is " + std::to_string(value) + ", at most " +
                 std::to_string(most) + " is possible");
  }
  return value;
}

Result<std::string> Decoder::text(std::size_t size_max) {
  ASSIGN_OR_RETURN(const std::uint64_t size, number_up_to(size_max, "the length of a text"));
  if (size > remaining()) return wrong("the data ends inside a text (truncated?)");
  std::string value(bytes_.substr(offset_, size));
  offset_ += size;
  return value;
}

Result<std::size_t> Decoder::count(std::size_t element_size_min, std::string_view what) {
  ASSIGN_OR_RETURN(const std::uint64_t value, number());
  if (value > remaining() / (element_size_min == 0 ? 1 : element_size_min)) {
    return wrong(std::string(what) + ": " + std::to_string(value) +
                 " are announced, the data holds fewer (truncated?)");
  }
  return value;
}

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1,
        "SHA-256 is part of every libcrypto");
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text.push_back(kDigits[digest[i] >> 4]);
    text.push_back(kDigits[digest[i] & 15]);
  }
  return text;
}

}  // namespace rehearsal
