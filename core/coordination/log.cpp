#include "core/coordination/log.hpp"

#include "core/base/text.hpp"

namespace rehearsal::coordination {

std::string cut(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  while (bytes_max > 0 && continues(bytes_max)) --bytes_max;
  return std::string(text.substr(0, bytes_max));
}

std::string one_line(std::string_view text) {
  constexpr std::size_t kMost = 400;
  std::string line = cut(text, kMost);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  if (text.size() > kMost) line += " …";
  return line;
}

std::string plain(std::string_view text) { return one_line(ascii(std::string(text))); }

Log log_line(LogLevel level, std::string_view event, std::initializer_list<Field> fields) {
  std::string text(event);
  for (const auto& [name, value] : fields) {
    const std::string line = one_line(value);
    const bool bare = !line.empty() && line.find_first_of(" \"=") == std::string::npos;
    text += " " + std::string(name) + "=";
    if (bare) {
      text += line;
      continue;
    }
    text += '"';
    for (const char c : line) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += '"';
  }
  return {level, text};
}

}  // namespace rehearsal::coordination
