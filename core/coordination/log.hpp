#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "core/coordination/coordinator.hpp"

namespace rehearsal::coordination {

/// One field of a log line.
using Field = std::pair<std::string_view, std::string>;

/// `agent lost run=e1-r1 host=host2 reason="silent for 3 s"`: the event, then its fields.
Log log_line(LogLevel level, std::string_view event, std::initializer_list<Field> fields);

/// At most `bytes_max` of `text`, cut between characters of UTF-8.
std::string cut(std::string_view text, std::size_t bytes_max);

/// Text that a peer chose, fit for one line of a log or an error: no control characters, not
/// endless.
std::string one_line(std::string_view text);

/// Likewise, of text from outside that may be no UTF-8, or end in the middle of a character, as
/// messages may not: only ASCII is kept.
std::string plain(std::string_view text);

}  // namespace rehearsal::coordination
