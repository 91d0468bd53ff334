#include "core/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace rehearsal {

void check_failed(std::string_view condition, std::string_view what,
                  const std::source_location& where) noexcept {
  std::fprintf(stderr, "%s:%u: CHECK(%.*s) failed: %.*s\n", where.file_name(), where.line(),
               static_cast<int>(condition.size()), condition.data(), static_cast<int>(what.size()),
               what.data());
  std::abort();
}

}  // namespace rehearsal
