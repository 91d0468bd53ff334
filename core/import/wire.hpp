#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rehearsal::importer {

/// One field of a protobuf message on the wire.
struct WireField {
  std::uint32_t number = 0;
  bool is_bytes = false;
  std::uint64_t value = 0;  ///< varint, fixed32 or fixed64
  std::string_view bytes;   ///< length-delimited
};

/// Reads a protobuf message field by field without a schema. Allocates nothing.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}

  bool done() const { return offset_ == bytes_.size(); }
  std::size_t offset() const { return offset_; }

  /// A varint; none if the data ends inside it or it is over 64 bits.
  std::optional<std::uint64_t> varint();
  /// A length and as many bytes; none if there are fewer.
  std::optional<std::string_view> delimited();
  /// The next field; none if it is malformed (truncated, a group, field number 0).
  std::optional<WireField> field();

 private:
  std::optional<std::uint64_t> fixed(std::size_t width);

  std::string_view bytes_;
  std::size_t offset_ = 0;
};

}  // namespace rehearsal::importer
