#pragma once

#include <string_view>

namespace rehearsal {

/// Prints file, line and text to stderr and aborts.
[[noreturn]] void check_failed(std::string_view condition, std::string_view what, const char* file,
                               int line) noexcept;

}  // namespace rehearsal

/// A broken invariant is a bug: always on, aborts. Never for input (use Result).
#define CHECK(condition, what)                                           \
  do {                                                                   \
    if (!(condition)) [[unlikely]]                                       \
      ::rehearsal::check_failed(#condition, (what), __FILE__, __LINE__); \
  } while (false)
