#include "core/yaml/tree.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <streambuf>
#include <unordered_set>
#include <utility>

#include "core/base/text.hpp"
#include "core/yaml/yaml.hpp"

namespace rehearsal::yaml {
namespace {

// Leaves yaml-cpp's parser from inside an event; caught in read_tree.
struct Refusal {
  std::string message;
};

constexpr std::string_view kPlain =
    "?";  // yaml-cpp's tag of an untagged plain scalar or collection
constexpr std::string_view kQuoted = "!";  // … and of an untagged quoted one

// Builds a Tree from yaml-cpp's events, refusing on the way what this reader does not take.
class Builder : public YAML::EventHandler {
 public:
  explicit Builder(Tree& tree) : tree_(tree) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (document_seen_) {
      refuse(mark, "a second document starts here", "one document a file, without '---' inside");
    }
    document_seen_ = true;
  }
  void OnDocumentEnd() override {}

  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    refuse(mark, "anchor '&" + name + "' is not allowed", "write the value out where it is used");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    refuse(mark, "an alias ('*name') is not allowed", "write the value out");
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    if (key_expected()) refuse(mark, "an empty key", "every key has a name");
    add(mark, Kind::null);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                const std::string& value) override {
    if (tag != kPlain && tag != kQuoted) refuse_tag(mark, tag);
    if (key_expected()) return take_key(mark, value);
    Tree::Entry& entry = add(mark, Kind::scalar);
    entry.quoted = tag == kQuoted;
    entry.text = value;
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, Kind::sequence);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, Kind::mapping);
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  struct Open {
    std::uint32_t index;
    std::unordered_set<std::string> keys;
    std::string key = {};
    YAML::Mark key_mark = {};
    bool has_key = false;
  };

  bool key_expected() const {
    return !open_.empty() && tree_.entries[open_.back().index].kind == Kind::mapping &&
           !open_.back().has_key;
  }

  void open(const YAML::Mark& mark, const std::string& tag, Kind kind) {
    if (tag != kPlain && !tag.empty()) refuse_tag(mark, tag);
    if (key_expected()) refuse(mark, "a list or mapping as key", "a key is a word");
    if (open_.size() == kDepthMax) {
      refuse(mark, "nested deeper than " + std::to_string(kDepthMax) + " levels", "a flatter file");
    }
    add(mark, kind);
    open_.push_back({static_cast<std::uint32_t>(tree_.entries.size() - 1), {}});
  }

  void take_key(const YAML::Mark& mark, const std::string& key) {
    Open& mapping = open_.back();
    if (key == "<<") refuse(mark, "a merge key ('<<') is not allowed", "write the keys out");
    if (!mapping.keys.insert(key).second) {
      refuse(mark, "key " + in_quotes(key) + " stands here a second time", "every key once");
    }
    mapping.key = key;
    mapping.key_mark = mark;
    mapping.has_key = true;
  }

  Tree::Entry& add(const YAML::Mark& mark, Kind kind) {
    const auto index = static_cast<std::uint32_t>(tree_.entries.size());
    Tree::Entry entry;
    entry.kind = kind;
    entry.line = number_of(mark.line);
    entry.column = number_of(mark.column);
    if (!open_.empty()) {
      Open& parent = open_.back();
      auto& siblings = tree_.entries[parent.index].children;
      entry.parent = parent.index;
      entry.ordinal = static_cast<std::uint32_t>(siblings.size());
      entry.key = std::move(parent.key);
      entry.key_line = number_of(parent.key_mark.line);
      entry.key_column = number_of(parent.key_mark.column);
      if (kind == Kind::null && parent.has_key) {  // an absent value has no place of its own
        entry.line = entry.key_line;
        entry.column = entry.key_column;
      }
      parent.key.clear();
      parent.has_key = false;
      siblings.push_back(index);
    }
    return tree_.entries.emplace_back(std::move(entry));
  }

  [[noreturn]] void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    refuse(mark, "tag " + in_quotes(tag) + " is not allowed", "leave it out");
  }

  [[noreturn]] void refuse(const YAML::Mark& mark, std::string_view what,
                           std::string_view right) const {
    throw Refusal{describe(tree_.file_name, static_cast<std::size_t>(mark.line + 1),
                           static_cast<std::size_t>(mark.column + 1),
                           open_.empty() ? "" : tree_.path(open_.back().index), what, right)};
  }

  static std::uint32_t number_of(int counted_from_zero) {
    return static_cast<std::uint32_t>(counted_from_zero + 1);
  }

  Tree& tree_;
  std::vector<Open> open_;
  bool document_seen_ = false;
};

using Position = std::pair<std::size_t, std::size_t>;  // line and column, from 1

Position position_of(const YAML::Mark& mark) {
  if (mark.is_null()) return {1, 1};
  return {static_cast<std::size_t>(mark.line + 1), static_cast<std::size_t>(mark.column + 1)};
}

// Where the last value of what has been read stands.
Position end_of(const Tree& tree) {
  if (tree.entries.empty()) return {1, 1};
  return {tree.entries.back().line, tree.entries.back().column};
}

// Lets yaml-cpp read the caller's bytes without a copy of them.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // a get area is never written to
    setg(begin, begin, begin + text.size());
  }
};

/// Far more than a file nested as deep as it may be has open at once.
constexpr std::size_t kOpenBracketsMax = 1000;

// yaml-cpp guesses an encoding from odd bytes; here the input is text or it is refused.
Result<void> check_is_text(std::string_view text, std::string_view file_name) {
  std::size_t line = 1;
  std::size_t line_start = 0;
  std::size_t brackets = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '[' || byte == '{') {
      // yaml-cpp reads ahead over all of them before the depth can be seen.
      if (++brackets > kOpenBracketsMax) {
        return invalid(
            describe(file_name, line, i - line_start + 1, "",
                     "more than " + std::to_string(kOpenBracketsMax) + " brackets are open",
                     "lists and mappings nested no deeper than " + std::to_string(kDepthMax)));
      }
    } else if (byte == ']' || byte == '}') {
      if (brackets > 0) --brackets;
    } else if (byte == '\n') {
      ++line;
      line_start = i + 1;
    } else if ((byte < 0x20 && byte != '\t' && byte != '\r') || byte == 0x7f || byte == 0xff ||
               byte == 0xfe) {
      return invalid(describe(
          file_name, line, i - line_start + 1, "",
          "the file holds the byte " + in_quotes(text.substr(i, 1)) + ", which no text has",
          "YAML in UTF-8"));
    }
  }
  return {};
}

}  // namespace

std::string Tree::path(std::uint32_t index) const {
  const Entry& entry = entries[index];
  if (entry.parent == kNone) return {};
  std::string parent = path(entry.parent);
  if (entries[entry.parent].kind == Kind::sequence) {
    return parent + "[" + std::to_string(entry.ordinal) + "]";
  }
  const std::string shown = in_quotes(entry.key);
  const std::string_view key = std::string_view(shown).substr(1, shown.size() - 2);
  return parent.empty() ? std::string(key) : parent + "." + std::string(key);
}

std::string describe(std::string_view file_name, std::size_t line, std::size_t column,
                     std::string_view path, std::string_view what, std::string_view right) {
  std::string result(file_name);
  result += ":" + std::to_string(line) + ":" + std::to_string(column) + ": ";
  if (!path.empty()) result += std::string(path) + ": ";
  result += what;
  if (!right.empty()) result += "; " + std::string(right);
  return result;
}

Result<Tree> read_tree(std::string_view text, std::string file_name) {
  if (text.size() > kDocumentBytesMax) {
    return fail(ErrorCode::too_large, ErrorSource::config,
                file_name + ": " + std::to_string(text.size()) + " bytes; at most " +
                    format_bytes_exact(Bytes{kDocumentBytesMax}));
  }
  RETURN_IF_ERROR(check_is_text(text, file_name));
  Tree tree;
  tree.file_name = std::move(file_name);
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    Builder builder(tree);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refusal& refusal) {
    return invalid(refusal.message);
  } catch (const YAML::Exception& error) {
    // Where input ends early yaml-cpp names the start of the file; the last value read is nearer.
    const Position at = std::max(position_of(error.mark), end_of(tree));
    return invalid(describe(tree.file_name, at.first, at.second, "", "not valid YAML: " + error.msg,
                            "look at indentation, brackets and quotes here and just above"));
  } catch (const std::exception& error) {
    return invalid(tree.file_name + ": not readable as YAML: " + error.what());
  }
  if (tree.entries.empty() || tree.entries.front().kind == Kind::null) {
    return invalid(describe(tree.file_name, 1, 1, "", "the file is empty", ""));
  }
  return tree;
}

}  // namespace rehearsal::yaml
