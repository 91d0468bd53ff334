#pragma once

#include <cstdint>

namespace rehearsal::test {

/// How often this thread has called operator new since it started. Linking this file's program with
/// the test support library replaces the global operator new (sanitizer builds included).
std::uint64_t allocations() noexcept;

/// While there is one, this thread's are not counted: a fake's, which stands for what allocates
/// nothing.
class Uncounted {
 public:
  Uncounted() noexcept;
  ~Uncounted();
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;

 private:
  std::uint64_t before_;
};

}  // namespace rehearsal::test
