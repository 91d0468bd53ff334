#pragma once

#include <source_location>
#include <string_view>

namespace rehearsal {

/// Prints file, line and text to stderr and aborts.
[[noreturn]] void check_failed(std::string_view condition, std::string_view what,
                               const std::source_location& where) noexcept;

}  // namespace rehearsal

/// A broken invariant is a bug: always on, aborts. Never for input (use Result).
#define CHECK(condition, what)                                                          \
  do {                                                                                  \
    if (!(condition)) [[unlikely]]                                                      \
      ::rehearsal::check_failed(#condition, (what), ::std::source_location::current()); \
  } while (false)
