#include "core/import/rank_name.hpp"

#include <charconv>

#include "core/profile/limits.hpp"

namespace rehearsal::importer {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<Rank> number_at(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data() || value >= profile::kRanksMax) {
    return std::nullopt;
  }
  return Rank{value};
}

/// The number right after `word`, with at most one separator between.
std::optional<Rank> after_word(std::string_view name, std::string_view word) {
  for (std::size_t at = name.find(word); at != std::string_view::npos;
       at = name.find(word, at + 1)) {
    std::string_view rest = name.substr(at + word.size());
    if (!rest.empty() && (rest[0] == '-' || rest[0] == '_' || rest[0] == '.'))
      rest.remove_prefix(1);
    if (const auto rank = number_at(rest)) return rank;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Rank> rank_in_name(std::string_view file) {
  for (const std::string_view word : {"rank", "Rank", "worker"}) {
    if (const auto rank = after_word(file, word)) return rank;
  }
  // Otherwise the last number before the extensions: "dlrm_eg_3.json.gz", "all_reduce.3.et".
  for (const std::string_view extension : {".gz", ".json", ".et", ".trace", ".pt"}) {
    if (file.ends_with(extension)) file.remove_suffix(extension.size());
  }
  std::size_t begin = file.size();
  while (begin > 0 && is_digit(file[begin - 1])) --begin;
  if (begin == file.size() || begin == 0) return std::nullopt;
  if (const char before = file[begin - 1]; before != '.' && before != '_' && before != '-') {
    return std::nullopt;
  }
  return number_at(file.substr(begin));
}

}  // namespace rehearsal::importer
