#include "core/import/inflate.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace rehearsal::importer {
namespace {

/// Ends the zlib stream on every way out.
struct Inflater {
  z_stream stream{};
  bool ready = inflateInit2(&stream, 16 + MAX_WBITS) == Z_OK;  // 16: gzip header and checksum
  Inflater() = default;
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (ready) inflateEnd(&stream);
  }
};

}  // namespace

bool is_gzip(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

Result<std::string> gunzip(std::string_view file, std::string_view bytes, std::size_t size_max) {
  const auto wrong = [&](std::string_view what) {
    return invalid(std::string(file) + ": " + std::string(what));
  };
  if (bytes.size() > std::numeric_limits<uInt>::max()) return wrong("over 4 GiB of gzip data");
  Inflater inflater;
  if (!inflater.ready) return wrong("zlib could not be set up");
  z_stream& stream = inflater.stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());

  std::string out;
  std::size_t used = 0;
  while (true) {
    if (used == out.size()) {
      if (used > size_max) {
        return fail(
            ErrorCode::too_large, ErrorSource::config,
            std::string(file) + ": more than " + std::to_string(size_max) + " bytes when unpacked");
      }
      out.resize(std::min(std::max<std::size_t>(used * 2, bytes.size() * 4 + 1024), size_max + 1));
    }
    const std::size_t room = std::min<std::size_t>(out.size() - used, 1U << 30);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    stream.avail_out = static_cast<uInt>(room);
    const int outcome = inflate(&stream, Z_NO_FLUSH);
    used += room - stream.avail_out;
    if (outcome == Z_STREAM_END) {
      if (stream.avail_in == 0) break;
      if (inflateReset(&stream) != Z_OK) return wrong("damaged gzip data");
    } else if (outcome == Z_BUF_ERROR ||
               (outcome == Z_OK && stream.avail_in == 0 && stream.avail_out != 0)) {
      return wrong("the gzip data ends early (truncated?)");
    } else if (outcome != Z_OK) {
      return wrong("damaged gzip data");
    }
  }
  if (used > size_max) {
    return fail(
        ErrorCode::too_large, ErrorSource::config,
        std::string(file) + ": more than " + std::to_string(size_max) + " bytes when unpacked");
  }
  out.resize(used);
  return out;
}

}  // namespace rehearsal::importer
