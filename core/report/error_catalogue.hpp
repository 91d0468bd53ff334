#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rehearsal::report {

/// What a person can do about a failure. Ids are for good: they stand in messages as
/// "[REHEARSAL-RDMA-020]", in docs/errors.md and in tickets, and are never used again for something
/// else.
struct CatalogueEntry {
  std::string_view id;
  std::string_view title;
  std::string_view meaning;
  std::string_view causes;  ///< likely ones, the likeliest first, one a line
  std::string_view advice;  ///< what to look at and try, one a line
};

std::span<const CatalogueEntry> error_catalogue();

/// The entry of an id, in any case, also as a mere "RDMA-020"; null: there is none.
const CatalogueEntry* find_error(std::string_view id);

/// For a terminal: title, meaning, causes and advice.
std::string explain(const CatalogueEntry& entry);

}  // namespace rehearsal::report
