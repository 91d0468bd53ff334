#include "core/import/wire.hpp"

namespace rehearsal::importer {

std::optional<std::uint64_t> WireReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (done()) return std::nullopt;
    const auto byte = static_cast<std::uint8_t>(bytes_[offset_++]);
    if (shift == 63 && byte > 1) return std::nullopt;
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> WireReader::delimited() {
  const auto size = varint();
  if (!size || *size > bytes_.size() - offset_) return std::nullopt;
  const std::string_view bytes = bytes_.substr(offset_, *size);
  offset_ += *size;
  return bytes;
}

std::optional<std::uint64_t> WireReader::fixed(std::size_t width) {
  if (bytes_.size() - offset_ < width) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    value |= std::uint64_t{static_cast<std::uint8_t>(bytes_[offset_ + i])} << (8 * i);
  }
  offset_ += width;
  return value;
}

std::optional<WireField> WireReader::field() {
  const auto key = varint();
  if (!key || *key >> 3 == 0 || *key >> 3 > 0x1FFFFFFF) return std::nullopt;
  WireField field;
  field.number = static_cast<std::uint32_t>(*key >> 3);
  std::optional<std::uint64_t> value;
  switch (*key & 7) {
    case 0:
      value = varint();
      break;
    case 1:
      value = fixed(8);
      break;
    case 5:
      value = fixed(4);
      break;
    case 2: {
      const auto bytes = delimited();
      if (!bytes) return std::nullopt;
      field.is_bytes = true;
      field.bytes = *bytes;
      return field;
    }
    default:
      return std::nullopt;
  }
  if (!value) return std::nullopt;
  field.value = *value;
  return field;
}

}  // namespace rehearsal::importer
