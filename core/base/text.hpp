#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rehearsal {

/// `text` in single quotes, safe to print: control characters as `\xNN`, cut after 60 characters.
std::string in_quotes(std::string_view text);

/// Text that may be no UTF-8, or end in the middle of a character, as messages may not: what is not
/// ASCII becomes `?`.
std::string ascii(std::string text);

/// "a, b, c"; of more than `most` the rest is counted: "a, b and 7 more".
std::string joined(std::span<const std::string_view> words, std::size_t most = 12);
std::string joined(std::span<const std::string> words, std::size_t most = 12);

/// The word that `written` is probably meant to be (few edits apart), or an empty view.
std::string_view closest(std::string_view written, std::span<const std::string_view> words);

}  // namespace rehearsal
