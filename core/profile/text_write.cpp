#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "core/base/units.hpp"
#include "core/profile/rank_list.hpp"
#include "core/profile/text.hpp"

namespace rehearsal::profile {
namespace {

bool is_plain(std::string_view text) {
  static constexpr std::array<std::string_view, 12> kWords = {
      "null", "Null", "NULL", "true", "True", "TRUE", "false", "False", "FALSE", "yes", "no", "~"};
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (text.empty() || !is_letter(text.front()) || text.back() == ' ') return false;
  if (std::find(kWords.begin(), kWords.end(), text) != kWords.end()) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == ' ' ||
           c == '/';
  });
}

/// A text as YAML writes it: plain where that is safe, else in double quotes.
std::string scalar(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (byte < 0x20 || byte == 0x7F) {
      quoted += "\\x";
      quoted += kDigits[byte >> 4];
      quoted += kDigits[byte & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string list(std::span<const std::string> texts) {
  std::string line = "[";
  for (const std::string& text : texts) {
    if (line.size() > 1) line += ", ";
    line += scalar(text);
  }
  return line + "]";
}

std::string rank_list(std::span<const Rank> ranks) {
  const std::string text = format_ranks(ranks);
  return text.find(',') == std::string::npos ? text : "[" + text + "]";
}

/// How `after` refers to an op: by name where just one op of the class has it, else by number.
class References {
 public:
  explicit References(const std::vector<Op>& ops) : ops_(ops) {
    for (const Op& op : ops) ++count_[op.name];
  }
  std::string to(OpIndex index) const {
    const std::string& name = index < ops_.size() ? ops_[index].name : std::string();
    const bool only_digits =
        std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (only_digits || count_.at(name) != 1) return std::to_string(index);
    return scalar(name);
  }

 private:
  const std::vector<Op>& ops_;
  std::map<std::string_view, int> count_;
};

/// "{a: b, c: d}"
class Flow {
 public:
  void add(std::string_view key, std::string_view value) {
    if (text_.size() > 1) text_ += ", ";
    text_ += std::string(key) + ": " + std::string(value);
  }
  std::string take() { return std::move(text_) + "}"; }

 private:
  std::string text_ = "{";
};

template <typename T>
std::string name_at(const std::vector<T>& things, std::size_t index) {
  if (index >= things.size()) return std::to_string(index);
  if constexpr (std::is_same_v<T, std::string>) {
    return scalar(things[index]);
  } else {
    return scalar(things[index].name);
  }
}

void add_communication(const Profile& profile, const Op& op, Flow& flow) {
  flow.add("communicator", name_at(profile.communicators, op.communicator.value));
  if (op.peer_bytes) {
    flow.add("per_peer", name_at(profile.peer_bytes, *op.peer_bytes));
  } else if (op.kind != OpKind::barrier) {
    flow.add("bytes", format_bytes_exact(op.bytes));
  }
  switch (op.kind) {
    case OpKind::broadcast:
    case OpKind::reduce:
    case OpKind::gather:
    case OpKind::scatter:
      flow.add("root", std::to_string(op.peer));
      break;
    case OpKind::send:
      flow.add("to", std::to_string(op.peer));
      break;
    case OpKind::recv:
      flow.add("from", std::to_string(op.peer));
      break;
    default:
      break;
  }
}

std::string op_text(const Profile& profile, const Op& op, const References& references) {
  Flow flow;
  if (!op.name.empty()) flow.add("name", scalar(op.name));
  if (op.kind == OpKind::compute) {
    flow.add("duration", format_duration_exact(op.duration));
  } else {
    add_communication(profile, op, flow);
  }
  flow.add("stream", name_at(profile.streams, op.stream));
  flow.add("phase", name_at(profile.phases, op.phase));
  if (!op.after.empty()) {
    std::string after = "[";
    for (const OpIndex index : op.after) {
      if (after.size() > 1) after += ", ";
      after += references.to(index);
    }
    flow.add("after", after + "]");
  }
  if (op.captured > Duration::zero()) flow.add("captured", format_duration_exact(op.captured));
  return "      - " + std::string(to_string(op.kind)) + ": " + flow.take() + "\n";
}

std::string matrices_text(const Profile& profile) {
  if (profile.peer_bytes.empty()) return {};
  std::string text = "per_peer_bytes:\n";
  for (const PeerBytes& matrix : profile.peer_bytes) {
    text += "  " + scalar(matrix.name) + ":" + (matrix.size == 0 ? " []\n" : "\n");
    for (std::uint32_t from = 0; from < matrix.size; ++from) {
      std::string row;
      for (std::uint32_t to = 0; to < matrix.size; ++to) {
        row += (to == 0 ? "" : ", ") + format_bytes_exact(matrix.from_to(from, to));
      }
      text += "    - [" + row + "]\n";
    }
  }
  return text;
}

std::string provenance_text(const Provenance& provenance) {
  if (provenance == Provenance{}) return {};
  std::string text = "provenance:\n";
  if (!provenance.format.empty()) text += "  format: " + scalar(provenance.format) + "\n";
  if (!provenance.importer.empty()) text += "  importer: " + scalar(provenance.importer) + "\n";
  if (!provenance.note.empty()) text += "  note: " + scalar(provenance.note) + "\n";
  if (!provenance.sources.empty()) text += "  sources:\n";
  for (const Provenance::Source& source : provenance.sources) {
    text += "    - {file: " + scalar(source.file) + ", sha256: " + scalar(source.sha256) + "}\n";
  }
  return text;
}

}  // namespace

std::string to_text(const Profile& profile) {
  std::string text = "profile: " + scalar(profile.name) + "\n";
  text += "ranks: " + std::to_string(profile.ranks) + "\n";
  text += "streams: " + list(profile.streams) + "\n";
  text += "phases: " + list(profile.phases) + "\n";
  text += profile.communicators.empty() ? "communicators: {}\n" : "communicators:\n";
  for (const Communicator& communicator : profile.communicators) {
    text += "  " + scalar(communicator.name) + ": {ranks: " + rank_list(communicator.ranks) + "}\n";
  }
  text += matrices_text(profile);
  text += "classes:\n";
  for (const RankClass& rank_class : profile.classes) {
    text += "  " + scalar(rank_class.name) + ":\n";
    text += "    ranks: " + rank_list(rank_class.ranks) + "\n";
    text += rank_class.ops.empty() ? "    ops: []\n" : "    ops:\n";
    const References references(rank_class.ops);
    for (const Op& op : rank_class.ops) text += op_text(profile, op, references);
  }
  return text + provenance_text(profile.provenance);
}

}  // namespace rehearsal::profile
