#pragma once

#include <cstdint>

namespace rehearsal::test {

/// How often this thread has called operator new since it started. Linking this file's program with
/// the test support library replaces the global operator new (sanitizer builds included).
std::uint64_t allocations() noexcept;

}  // namespace rehearsal::test
