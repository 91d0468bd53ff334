#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace rehearsal::importer {

bool is_gzip(std::string_view bytes);

/// The content of a gzip file (one or more members). More than `size_max` bytes, a truncated or a
/// damaged file is an error that names `file`. Memory grows with what is really there.
Result<std::string> gunzip(std::string_view file, std::string_view bytes, std::size_t size_max);

}  // namespace rehearsal::importer
