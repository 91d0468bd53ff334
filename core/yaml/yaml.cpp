#include "core/yaml/yaml.hpp"

#include <algorithm>
#include <charconv>

#include "core/base/check.hpp"
#include "core/base/text.hpp"
#include "core/yaml/tree.hpp"

namespace rehearsal::yaml {
namespace {

constexpr std::string_view kLeftOver = "CHANGEME";

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::null:
      return "empty";
    case Kind::scalar:
      return "a single value";
    case Kind::sequence:
      return "a list";
    case Kind::mapping:
      return "a mapping";
  }
  return "?";
}

std::string allowed_keys(std::span<const std::string_view> allowed) {
  return "the keys here are " + joined(allowed, 30);
}

// The value of `digits` if it is how a person writes a whole number, else nothing.
std::optional<std::uint64_t> plain_number(std::string_view digits) {
  if (digits.empty() || (digits.size() > 1 && digits.front() == '0')) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

}  // namespace

bool Node::is_mapping() const { return tree_->entries[index_].kind == Kind::mapping; }
bool Node::is_sequence() const { return tree_->entries[index_].kind == Kind::sequence; }
bool Node::is_scalar() const { return tree_->entries[index_].kind == Kind::scalar; }
bool Node::is_null() const { return tree_->entries[index_].kind == Kind::null; }

std::string Node::path() const { return tree_->path(index_); }

std::string Node::position() const {
  const Tree::Entry& entry = tree_->entries[index_];
  return tree_->file_name + ":" + std::to_string(entry.line) + ":" + std::to_string(entry.column);
}

Failure Node::wrong(std::string_view what, std::string_view right) const {
  const Tree::Entry& entry = tree_->entries[index_];
  return invalid(describe(tree_->file_name, entry.line, entry.column, path(), what, right));
}

Failure Node::wrong_key(std::string_view what, std::string_view right) const {
  const Tree::Entry& entry = tree_->entries[index_];
  return invalid(describe(tree_->file_name, entry.key_line, entry.key_column, path(), what, right));
}

Failure Node::wrong_kind(std::string_view expected) const {
  const std::string subject = path().empty() ? "the file is " : "is ";
  return wrong(subject + std::string(kind_name(tree_->entries[index_].kind)),
               "expected " + std::string(expected));
}

Result<Mapping> Node::as_mapping(std::span<const std::string_view> allowed) const {
  if (!is_mapping()) return wrong_kind("a mapping; " + allowed_keys(allowed));
  ASSIGN_OR_RETURN(auto found, entries());
  for (const auto& [key, value] : found) {
    if (std::ranges::find(allowed, key) != allowed.end()) continue;
    const std::string_view meant = closest(key, allowed);
    std::string right = allowed_keys(allowed);
    if (!meant.empty()) right = "did you mean '" + std::string(meant) + "'? " + right;
    return value.wrong_key("unknown key", right);
  }
  return Mapping(*this, std::move(found));
}

Result<std::vector<std::pair<std::string, Node>>> Node::entries() const {
  if (!is_mapping()) return wrong_kind("a mapping");
  std::vector<std::pair<std::string, Node>> result;
  for (const std::uint32_t child : tree_->entries[index_].children) {
    result.emplace_back(tree_->entries[child].key, Node(*tree_, child));
  }
  return result;
}

Result<std::vector<Node>> Node::items() const {
  if (!is_sequence()) return wrong_kind("a list, like [a, b] or one '- a' a line");
  std::vector<Node> result;
  for (const std::uint32_t child : tree_->entries[index_].children) {
    result.emplace_back(*tree_, child);
  }
  return result;
}

Result<std::string> Node::text_or_empty() const {
  if (!is_scalar()) return wrong_kind("a text");
  const std::string& value = tree_->entries[index_].text;
  if (value.find(kLeftOver) != std::string::npos) {
    return wrong(in_quotes(value) + " was left over from a template", "put the real value in");
  }
  return value;
}

Result<std::string> Node::text() const {
  ASSIGN_OR_RETURN(std::string value, text_or_empty());
  if (value.empty()) return wrong("is an empty text", "expected at least one character");
  return value;
}

Result<std::uint64_t> Node::integer(std::uint64_t least, std::uint64_t most) const {
  const std::string right = "expected a whole number from " + std::to_string(least) + " to " +
                            std::to_string(most) + ", in plain decimal digits";
  if (!is_scalar()) return wrong_kind(right.substr(std::string_view("expected ").size()));
  ASSIGN_OR_RETURN(const std::string value, text());
  if (tree_->entries[index_].quoted) return wrong("is a text in quotes", right);
  const std::optional<std::uint64_t> number = plain_number(value);
  const bool digits = value.find_first_not_of("0123456789") == std::string::npos;
  if (!number && digits && value.front() != '0') {
    return wrong(in_quotes(value) + " is out of range", right);
  }
  if (!number) return wrong(in_quotes(value) + " is not a whole number", right);
  if (*number < least || *number > most) return wrong(in_quotes(value) + " is out of range", right);
  return *number;
}

Result<std::uint32_t> Node::integer32(std::uint32_t least, std::uint32_t most) const {
  return integer(least, most).map([](std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
  });
}

Result<bool> Node::boolean() const {
  if (!is_scalar()) return wrong_kind("true or false");
  ASSIGN_OR_RETURN(const std::string value, text());
  if (!tree_->entries[index_].quoted) {
    if (value == "true") return true;
    if (value == "false") return false;
  }
  return wrong(in_quotes(value) + " is not a truth value", "expected true or false");
}

template <typename Value>
Result<Value> Node::quantity(Result<Value> (*parse)(std::string_view),
                             std::string_view example) const {
  if (!is_scalar()) return wrong_kind(example);
  ASSIGN_OR_RETURN(const std::string value, text());
  auto parsed = parse(value);
  if (!parsed) return wrong(parsed.error().message, "");
  return parsed;
}

Result<Bytes> Node::bytes() const { return quantity(&parse_bytes, "a size, like 64MiB"); }
Result<Duration> Node::duration() const {
  return quantity(&parse_duration, "a duration, like 250us");
}
Result<BitRate> Node::bit_rate() const {
  return quantity(&parse_bit_rate, "a rate, like 100Gbit/s");
}

Result<std::size_t> Node::one_of_words(std::span<const std::string_view> words) const {
  const std::string right = "one of " + joined(words, 30);
  if (!is_scalar()) return wrong_kind(right);
  ASSIGN_OR_RETURN(const std::string value, text());
  const auto found = std::ranges::find(words, value);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  const std::string_view meant = closest(value, words);
  const std::string hint = meant.empty() ? "" : "did you mean '" + std::string(meant) + "'? ";
  return wrong(in_quotes(value) + " is unknown", hint + "expected " + right);
}

Result<Node> Mapping::required(std::string_view key) const {
  const std::optional<Node> found = optional(key);
  if (!found) {
    return node_.wrong("key '" + std::string(key) + "' is missing", "it must be given");
  }
  if (found->is_null()) return found->wrong("is empty", "it must have a value");
  return *found;
}

std::optional<Node> Mapping::optional(std::string_view key) const {
  for (const auto& [name, value] : entries_) {
    if (name == key) return value;
  }
  return std::nullopt;
}

Document::Document(std::unique_ptr<const Tree> tree) : tree_(std::move(tree)) {}
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;
Document::~Document() = default;

Node Document::root() const { return {*tree_, 0}; }

Result<Document> parse(std::string_view text, std::string file_name) {
  ASSIGN_OR_RETURN(Tree tree, read_tree(text, std::move(file_name)));
  return Document(std::make_unique<const Tree>(std::move(tree)));
}

}  // namespace rehearsal::yaml
