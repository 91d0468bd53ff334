#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/units.hpp"

namespace rehearsal::yaml {

/// Caps on what is read at all.
inline constexpr std::size_t kDocumentBytesMax = 1U << 20;
inline constexpr std::size_t kDepthMax = 32;

struct Tree;
class Mapping;

/// One place of a document: a scalar, a sequence or a mapping. A cheap handle; the Document must
/// outlive it. Every failure reads "file:line:column: key.path: what is wrong; what would be right"
/// (invalid_input).
class Node {
 public:
  Node(const Tree& tree, std::uint32_t index) : tree_(&tree), index_(index) {}

  bool is_mapping() const;
  bool is_sequence() const;
  bool is_scalar() const;
  /// Nothing, `~` or `null`.
  bool is_null() const;

  /// A mapping that has no other keys than these.
  Result<Mapping> as_mapping(std::span<const std::string_view> allowed) const;
  Result<Mapping> as_mapping(std::initializer_list<std::string_view> allowed) const;
  /// A mapping whose keys are names the writer chose: key and value in the order of the file.
  Result<std::vector<std::pair<std::string, Node>>> entries() const;
  /// The elements of a sequence (possibly none).
  Result<std::vector<Node>> items() const;

  /// A scalar, plain or quoted. Nothing, an empty text and a left-over CHANGEME are refused.
  Result<std::string> text() const;
  /// As text(), but "" is allowed.
  Result<std::string> text_or_empty() const;
  /// Decimal digits without sign, leading zeros, exponent or quotes, within [least, most].
  Result<std::uint64_t> integer(std::uint64_t least, std::uint64_t most) const;
  /// As integer(), for the smaller type.
  Result<std::uint32_t> integer32(std::uint32_t least, std::uint32_t most) const;
  /// `true` or `false`, unquoted; nothing else ("yes" is not).
  Result<bool> boolean() const;
  /// With a unit, as parse_bytes, parse_duration and parse_bit_rate read it.
  Result<Bytes> bytes() const;
  Result<Duration> duration() const;
  Result<BitRate> bit_rate() const;

  /// One of these words; returns its position.
  Result<std::size_t> one_of_words(std::span<const std::string_view> words) const;
  /// One of these values, spelled as to_string() spells it.
  template <typename Enum>
  Result<Enum> one_of(std::initializer_list<Enum> values) const {
    std::vector<std::string_view> words;
    for (const Enum value : values) words.push_back(to_string(value));
    return one_of_words(words).map([&](std::size_t at) { return *(values.begin() + at); });
  }

  /// A failure that blames this place. `right` says what would be right (may be empty).
  Failure wrong(std::string_view what, std::string_view right) const;

  /// As wrong(), at the place of the key whose value this is.
  Failure wrong_key(std::string_view what, std::string_view right) const;

  /// "jobs[0].hosts"; empty for the document itself.
  std::string path() const;
  /// "drill.yaml:3:5".
  std::string position() const;

 private:
  Failure wrong_kind(std::string_view expected) const;
  template <typename Value>
  Result<Value> quantity(Result<Value> (*parse)(std::string_view), std::string_view example) const;

  const Tree* tree_;
  std::uint32_t index_;
};

/// A mapping whose keys have been checked.
class Mapping {
 public:
  explicit Mapping(const Node& node, std::vector<std::pair<std::string, Node>> entries)
      : node_(node), entries_(std::move(entries)) {}

  /// The value of `key`; missing or empty is a failure that blames the mapping.
  Result<Node> required(std::string_view key) const;
  /// The value of `key`, if the key is there.
  std::optional<Node> optional(std::string_view key) const;
  bool has(std::string_view key) const { return optional(key).has_value(); }

  const Node& node() const { return node_; }
  Failure wrong(std::string_view what, std::string_view right) const {
    return node_.wrong(what, right);
  }

 private:
  Node node_;
  std::vector<std::pair<std::string, Node>> entries_;
};

inline Result<Mapping> Node::as_mapping(std::initializer_list<std::string_view> allowed) const {
  return as_mapping(std::span{allowed.begin(), allowed.size()});
}

/// A strict reading of one YAML document: no anchors, aliases, tags, merge keys, duplicate keys or
/// second documents, so what is written is what is there, and its size bounds the work.
class Document {
 public:
  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;
  ~Document();

  Node root() const;

 private:
  friend Result<Document> parse(std::string_view text, std::string file_name);
  explicit Document(std::unique_ptr<const Tree> tree);

  std::unique_ptr<const Tree> tree_;
};

/// `file_name` is only for messages. Fails with invalid_input, or too_large over kDocumentBytesMax.
Result<Document> parse(std::string_view text, std::string file_name);

}  // namespace rehearsal::yaml
