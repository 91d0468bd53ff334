#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace rehearsal {

/// Our own ordered encoding: the same value always gives the same bytes, so its hash is an
/// identity. Numbers are LEB128 varints, strings are length and bytes.
class Encoder {
 public:
  void number(std::uint64_t value);
  void text(std::string_view value);
  void raw(std::string_view bytes) { bytes_ += bytes; }

  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what Encoder wrote. After the first error every call fails with it; nothing is allocated
/// for more elements than the input could hold.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_(bytes) {}

  Result<std::uint64_t> number();
  /// A number that must lie in [0, most]; `what` names it in the error.
  Result<std::uint64_t> number_up_to(std::uint64_t most, std::string_view what);
  Result<std::string> text(std::size_t size_max);
  /// A count of elements of at least `element_size_min` bytes each, so it cannot exceed what is
  /// left.
  Result<std::size_t> count(std::size_t element_size_min, std::string_view what);

  std::size_t offset() const { return offset_; }
  std::size_t remaining() const { return bytes_.size() - offset_; }

 private:
  Failure wrong(std::string_view what) const;

  std::string_view bytes_;
  std::size_t offset_ = 0;
};

/// SHA-256 as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace rehearsal
