#include "core/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace rehearsal {

void check_failed(std::string_view condition, std::string_view what, const char* file,
                  int line) noexcept {
  std::fprintf(stderr, "%s:%d: CHECK(%.*s) failed: %.*s\n", file, line,
               static_cast<int>(condition.size()), condition.data(), static_cast<int>(what.size()),
               what.data());
  std::abort();
}

}  // namespace rehearsal
