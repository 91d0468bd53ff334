#include "core/protocol/parts.hpp"

#include <utility>

#include "core/base/check.hpp"
#include "core/protocol/frame.hpp"

namespace rehearsal::protocol {

std::vector<Part> parts_of(std::string_view whole) {
  std::vector<Part> parts;
  std::size_t offset = 0;
  do {
    const std::string_view bytes = whole.substr(offset, kPartBytesMax);
    parts.push_back({.size = whole.size(), .offset = offset, .bytes = bytes});
    offset += bytes.size();
  } while (offset < whole.size());
  return parts;
}

Result<bool> PartAssembler::add(const Part& part) {
  const auto refuse = [this](ErrorCode code, const std::string& why) {
    return fail(code, ErrorSource::control, what_ + ": " + why);
  };
  if (part.size > size_max_) {
    return refuse(
        ErrorCode::too_large,
        std::to_string(part.size) + " bytes announced; the cap is " + std::to_string(size_max_));
  }
  if (announced_ && part.size != size_) {
    return refuse(ErrorCode::protocol, "a part announces " + std::to_string(part.size) +
                                           " bytes, the first one announced " +
                                           std::to_string(size_));
  }
  if (part.offset > part.size || part.bytes.size() > part.size - part.offset) {
    return refuse(ErrorCode::protocol, "a part reaches beyond the announced size");
  }
  if (part.offset > whole_.size() ||
      (part.offset < whole_.size() && part.offset + part.bytes.size() > whole_.size())) {
    return refuse(ErrorCode::protocol, "a part at offset " + std::to_string(part.offset) +
                                           " where offset " + std::to_string(whole_.size()) +
                                           " was expected");
  }
  announced_ = true;
  size_ = part.size;
  if (part.offset == whole_.size()) whole_ += part.bytes;
  return complete();
}

std::string PartAssembler::take() {
  CHECK(complete(), "only a whole is taken");
  announced_ = false;
  size_ = 0;
  return std::exchange(whole_, {});
}

}  // namespace rehearsal::protocol
