#include "core/base/text.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace rehearsal {
namespace {

constexpr std::size_t kQuotedMax = 60;
constexpr std::size_t kComparedMax = 64;

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

// Optimal string alignment: letters changed, added, dropped, or two neighbours swapped.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({changed, row[j - 1] + 1, last[j] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row.back();
}

template <typename Word>
std::string join(std::span<const Word> words, std::size_t most) {
  std::string result;
  const std::size_t shown = std::min(most, words.size());
  for (std::size_t i = 0; i < shown; ++i) {
    if (i != 0) result += ", ";
    result += words[i];
  }
  if (shown < words.size()) result += " and " + std::to_string(words.size() - shown) + " more";
  return result;
}

}  // namespace

std::string ascii(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
  return text;
}

std::string in_quotes(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string result = "'";
  for (const char c : text.substr(0, kQuotedMax)) {
    if (is_control(c)) {
      const auto byte = static_cast<unsigned char>(c);
      result += "\\x";
      result += kDigits[byte >> 4U];
      result += kDigits[byte & 0xfU];
    } else {
      result += c;
    }
  }
  if (text.size() > kQuotedMax) result += "...";
  return result + "'";
}

std::string joined(std::span<const std::string_view> words, std::size_t most) {
  return join(words, most);
}

std::string joined(std::span<const std::string> words, std::size_t most) {
  return join(words, most);
}

std::string_view closest(std::string_view written, std::span<const std::string_view> words) {
  if (written.size() > kComparedMax) return {};
  std::string_view best;
  std::size_t best_edits = std::max<std::size_t>(1, written.size() / 3) + 1;
  for (const std::string_view word : words) {
    if (word.size() > kComparedMax) continue;
    const std::size_t edits = edits_between(written, word);
    if (edits < best_edits) {
      best = word;
      best_edits = edits;
    }
  }
  return best;
}

}  // namespace rehearsal
