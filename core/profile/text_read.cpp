#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "core/profile/limits.hpp"
#include "core/profile/rank_list.hpp"
#include "core/profile/text.hpp"
#include "core/yaml/yaml.hpp"

namespace rehearsal::profile {
namespace {

using yaml::Mapping;
using yaml::Node;

std::string quoted_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text.empty() ? "(none)" : text;
}

/// Names of streams or phases: declared once, or collected as they are used.
class Names {
 public:
  Names(std::string what, std::vector<std::string>& names)
      : what_(std::move(what)), names_(names) {}

  Result<void> declare(const Node& node) {
    ASSIGN_OR_RETURN(const std::vector<Node> items, node.items());
    for (const Node& item : items) {
      ASSIGN_OR_RETURN(std::string name, item.text());
      if (find(name)) return item.wrong("'" + name + "' is there twice", "names must differ");
      names_.push_back(std::move(name));
    }
    declared_ = true;
    return {};
  }

  /// The index of `name`; blames `where` if it is not declared.
  Result<std::uint32_t> index(const std::string& name, const Node& where) {
    if (const auto found = find(name)) return *found;
    if (declared_) {
      return where.wrong("'" + name + "' is no " + what_ + " of this profile",
                         "one of " + quoted_list(names_));
    }
    names_.push_back(name);
    return static_cast<std::uint32_t>(names_.size() - 1);
  }

 private:
  std::optional<std::uint32_t> find(std::string_view name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - names_.begin());
  }

  std::string what_;
  std::vector<std::string>& names_;
  bool declared_ = false;
};

/// `all`, `5`, `0-7`, or a list of the latter two.
Result<std::vector<Rank>> read_ranks(const Node& node, std::uint32_t rank_count,
                                     std::size_t& budget) {
  std::vector<Node> items = {node};
  if (node.is_sequence()) {
    ASSIGN_OR_RETURN(items, node.items());
  }
  std::vector<Rank> ranks;
  for (const Node& item : items) {
    ASSIGN_OR_RETURN(std::string text, item.text());
    if (text == "all" && rank_count > 0) text = "0-" + std::to_string(rank_count - 1);
    const std::size_t before = ranks.size();
    if (const auto added = append_ranks(text, rank_count, ranks); !added) {
      return item.wrong(added.error().message, "");
    }
    if (ranks.size() - before > budget) {
      return item.wrong("all lists of ranks together are too long", "at most 16777216 entries");
    }
    budget -= ranks.size() - before;
  }
  return ranks;
}

std::vector<std::string_view> allowed_keys(OpKind kind) {
  std::vector<std::string_view> keys = {"name", "stream", "phase", "after"};
  if (kind == OpKind::compute) {
    keys.push_back("duration");
    return keys;
  }
  keys.insert(keys.end(), {"communicator", "captured"});
  if (kind != OpKind::barrier) keys.push_back("bytes");
  switch (kind) {
    case OpKind::all_to_all:
      keys.push_back("per_peer");
      break;
    case OpKind::send:
      keys.push_back("to");
      break;
    case OpKind::recv:
      keys.push_back("from");
      break;
    case OpKind::broadcast:
    case OpKind::reduce:
    case OpKind::gather:
    case OpKind::scatter:
      keys.push_back("root");
      break;
    default:
      break;
  }
  return keys;
}

/// The key that gives Op::peer, or none.
std::string_view peer_key(OpKind kind) {
  switch (kind) {
    case OpKind::send:
      return "to";
    case OpKind::recv:
      return "from";
    case OpKind::broadcast:
    case OpKind::reduce:
    case OpKind::gather:
    case OpKind::scatter:
      return "root";
    default:
      return {};
  }
}

class Reader {
 public:
  Result<Profile> read(const Node& root) {
    ASSIGN_OR_RETURN(const Mapping top,
                     root.as_mapping({"profile", "ranks", "streams", "phases", "communicators",
                                      "per_peer_bytes", "classes", "provenance"}));
    ASSIGN_OR_RETURN(const Node name, top.required("profile"));
    ASSIGN_OR_RETURN(profile_.name, name.text());
    ASSIGN_OR_RETURN(const Node ranks, top.required("ranks"));
    ASSIGN_OR_RETURN(profile_.ranks, ranks.integer32(1, kRanksMax));
    if (const auto node = top.optional("streams")) RETURN_IF_ERROR(streams_.declare(*node));
    if (const auto node = top.optional("phases")) RETURN_IF_ERROR(phases_.declare(*node));
    ASSIGN_OR_RETURN(const Node communicators, top.required("communicators"));
    RETURN_IF_ERROR(read_communicators(communicators));
    if (const auto node = top.optional("per_peer_bytes")) RETURN_IF_ERROR(read_matrices(*node));
    ASSIGN_OR_RETURN(const Node classes, top.required("classes"));
    RETURN_IF_ERROR(read_classes(classes));
    if (const auto node = top.optional("provenance")) RETURN_IF_ERROR(read_provenance(*node));
    if (profile_.phases.empty()) profile_.phases = {"iteration"};
    return std::move(profile_);
  }

 private:
  Result<void> read_communicators(const Node& node) {
    ASSIGN_OR_RETURN(const auto entries, node.entries());
    for (const auto& [name, value] : entries) {
      ASSIGN_OR_RETURN(const Mapping mapping, value.as_mapping({"ranks"}));
      ASSIGN_OR_RETURN(const Node ranks, mapping.required("ranks"));
      Communicator communicator{.name = name, .ranks = {}};
      ASSIGN_OR_RETURN(communicator.ranks, read_ranks(ranks, profile_.ranks, rank_budget_));
      profile_.communicators.push_back(std::move(communicator));
    }
    return {};
  }

  Result<void> read_matrices(const Node& node) {
    ASSIGN_OR_RETURN(const auto entries, node.entries());
    for (const auto& [name, value] : entries) {
      ASSIGN_OR_RETURN(const std::vector<Node> rows, value.items());
      PeerBytes matrix{.name = name, .size = static_cast<std::uint32_t>(rows.size()), .bytes = {}};
      for (const Node& row : rows) {
        ASSIGN_OR_RETURN(const std::vector<Node> sizes, row.items());
        if (sizes.size() != rows.size()) {
          return row.wrong("this row has " + std::to_string(sizes.size()) + " sizes",
                           "as many as there are rows, " + std::to_string(rows.size()) +
                               ": what this position sends to each");
        }
        for (const Node& size : sizes) {
          ASSIGN_OR_RETURN(const Bytes bytes, read_bytes(size));
          matrix.bytes.push_back(bytes);
        }
      }
      profile_.peer_bytes.push_back(std::move(matrix));
    }
    return {};
  }

  Result<Bytes> read_bytes(const Node& node) const {
    ASSIGN_OR_RETURN(const Bytes bytes, node.bytes());
    if (bytes.count() > kOpBytesMax) return node.wrong("is too large", "at most 1024TiB");
    return bytes;
  }

  Result<Duration> read_duration(const Node& node) const {
    ASSIGN_OR_RETURN(const Duration duration, node.duration());
    if (duration.count() > kDurationNanosecondsMax) return node.wrong("is too long", "at most 24h");
    return duration;
  }

  Result<void> read_classes(const Node& node) {
    ASSIGN_OR_RETURN(const auto entries, node.entries());
    for (const auto& [name, value] : entries) {
      ASSIGN_OR_RETURN(const Mapping mapping, value.as_mapping({"ranks", "ops"}));
      ASSIGN_OR_RETURN(const Node ranks, mapping.required("ranks"));
      RankClass rank_class{.name = name, .ranks = {}, .ops = {}};
      ASSIGN_OR_RETURN(rank_class.ranks, read_ranks(ranks, profile_.ranks, rank_budget_));
      std::sort(rank_class.ranks.begin(), rank_class.ranks.end());
      ASSIGN_OR_RETURN(const Node ops, mapping.required("ops"));
      ASSIGN_OR_RETURN(const std::vector<Node> items, ops.items());
      by_name_.clear();
      for (const Node& item : items) {
        ASSIGN_OR_RETURN(Op op, read_op(item, rank_class.ops));
        if (!op.name.empty()) {
          const auto index = static_cast<OpIndex>(rank_class.ops.size());
          const auto [entry, added] = by_name_.emplace(op.name, index);
          if (!added) entry->second = kAmbiguous;
        }
        rank_class.ops.push_back(std::move(op));
      }
      profile_.classes.push_back(std::move(rank_class));
    }
    return {};
  }

  Result<Op> read_op(const Node& item, const std::vector<Op>& earlier) {
    ASSIGN_OR_RETURN(const auto entries, item.entries());
    if (entries.size() != 1) {
      return item.wrong("an op has one key, its kind", "like '- compute: {duration: 20ms}'");
    }
    const auto& [kind_name, node] = entries.front();
    const std::optional<OpKind> kind = op_kind(kind_name);
    if (!kind) {
      return node.wrong_key("'" + kind_name + "' is no kind of op",
                            "compute, all_reduce, all_gather, reduce_scatter, all_to_all, "
                            "broadcast, reduce, gather, scatter, send, recv or barrier");
    }
    ASSIGN_OR_RETURN(const Mapping fields, node.as_mapping(allowed_keys(*kind)));
    Op op;
    op.kind = *kind;
    if (const auto name = fields.optional("name")) {
      ASSIGN_OR_RETURN(op.name, name->text());
    }
    RETURN_IF_ERROR(read_place(fields, earlier, op));
    if (op.kind == OpKind::compute) {
      ASSIGN_OR_RETURN(const Node duration, fields.required("duration"));
      ASSIGN_OR_RETURN(op.duration, read_duration(duration));
    } else {
      RETURN_IF_ERROR(read_communication(fields, op));
    }
    return op;
  }

  /// Stream, phase and dependencies. Without `phase` an op belongs to that of the op before.
  Result<void> read_place(const Mapping& fields, const std::vector<Op>& earlier, Op& op) {
    std::string stream = op.kind == OpKind::compute ? "compute" : "communication";
    const auto stream_node = fields.optional("stream");
    if (stream_node) {
      ASSIGN_OR_RETURN(stream, stream_node->text());
    }
    ASSIGN_OR_RETURN(op.stream, streams_.index(stream, stream_node.value_or(fields.node())));
    if (const auto phase = fields.optional("phase")) {
      ASSIGN_OR_RETURN(const std::string name, phase->text());
      ASSIGN_OR_RETURN(op.phase, phases_.index(name, *phase));
    } else if (!earlier.empty()) {
      op.phase = earlier.back().phase;
    } else if (profile_.phases.empty()) {
      ASSIGN_OR_RETURN(op.phase, phases_.index("iteration", fields.node()));
    }
    if (const auto after = fields.optional("after")) return read_after(*after, earlier, op);
    return {};
  }

  Result<void> read_after(const Node& node, const std::vector<Op>& earlier, Op& op) {
    std::vector<Node> items = {node};
    if (node.is_sequence()) {
      ASSIGN_OR_RETURN(items, node.items());
    }
    for (const Node& item : items) {
      ASSIGN_OR_RETURN(const std::string text, item.text());
      ASSIGN_OR_RETURN(const OpIndex index, find_op(item, text, earlier.size()));
      op.after.push_back(index);
    }
    std::sort(op.after.begin(), op.after.end());
    if (std::adjacent_find(op.after.begin(), op.after.end()) != op.after.end()) {
      return node.wrong("names an op twice", "each once");
    }
    return {};
  }

  Result<OpIndex> find_op(const Node& node, const std::string& text, std::size_t earlier) const {
    const bool digits =
        std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (digits) {
      OpIndex index = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
      if (error == std::errc{} && index < earlier) return index;
      return node.wrong("op " + text + " does not stand before this one",
                        "the number of an earlier op of this class, from 0");
    }
    const auto found = by_name_.find(text);
    if (found == by_name_.end()) {
      return node.wrong("no earlier op of this class is called '" + text + "'",
                        "the name of an op above (an op can only wait for earlier ones)");
    }
    if (found->second == kAmbiguous) {
      return node.wrong("several ops of this class are called '" + text + "'",
                        "a name of its own, or the number of the op in its class, from 0");
    }
    return found->second;
  }

  Result<void> read_communication(const Mapping& fields, Op& op) {
    RETURN_IF_ERROR(read_communicator(fields, op));
    if (const auto captured = fields.optional("captured")) {
      ASSIGN_OR_RETURN(op.captured, read_duration(*captured));
    }
    if (const std::string_view key = peer_key(op.kind); !key.empty()) {
      ASSIGN_OR_RETURN(const Node peer, fields.required(key));
      const std::uint32_t size = profile_.communicators[op.communicator.value].size();
      ASSIGN_OR_RETURN(op.peer, peer.integer32(0, size == 0 ? 0 : size - 1));
    }
    if (op.kind == OpKind::barrier) return {};
    const auto per_peer = fields.optional("per_peer");
    if (!per_peer) {
      ASSIGN_OR_RETURN(const Node bytes, fields.required("bytes"));
      ASSIGN_OR_RETURN(op.bytes, read_bytes(bytes));
      return {};
    }
    if (const auto bytes = fields.optional("bytes")) {
      return bytes->wrong("both 'bytes' and 'per_peer'", "one of them");
    }
    ASSIGN_OR_RETURN(const std::string name, per_peer->text());
    ASSIGN_OR_RETURN(op.peer_bytes, find(profile_.peer_bytes, name, *per_peer, "per_peer_bytes"));
    return {};
  }

  Result<void> read_communicator(const Mapping& fields, Op& op) {
    const auto node = fields.optional("communicator");
    if (!node && profile_.communicators.size() == 1) return {};
    ASSIGN_OR_RETURN(const Node named, fields.required("communicator"));
    ASSIGN_OR_RETURN(const std::string name, named.text());
    ASSIGN_OR_RETURN(op.communicator.value,
                     find(profile_.communicators, name, named, "communicators"));
    return {};
  }

  template <typename T>
  Result<std::uint32_t> find(const std::vector<T>& things, const std::string& name,
                             const Node& where, const std::string& group) const {
    std::vector<std::string> known;
    for (std::uint32_t i = 0; i < things.size(); ++i) {
      if (things[i].name == name) return i;
      if (known.size() < 20) known.push_back(things[i].name);
    }
    return where.wrong("'" + name + "' is not among '" + group + "'",
                       "one of " + quoted_list(known));
  }

  Result<void> read_provenance(const Node& node) {
    ASSIGN_OR_RETURN(const Mapping mapping,
                     node.as_mapping({"format", "importer", "note", "sources"}));
    Provenance& provenance = profile_.provenance;
    if (const auto format = mapping.optional("format")) {
      ASSIGN_OR_RETURN(provenance.format, format->text_or_empty());
    }
    if (const auto importer = mapping.optional("importer")) {
      ASSIGN_OR_RETURN(provenance.importer, importer->text_or_empty());
    }
    if (const auto note = mapping.optional("note")) {
      ASSIGN_OR_RETURN(provenance.note, note->text_or_empty());
    }
    const auto sources = mapping.optional("sources");
    if (!sources) return {};
    ASSIGN_OR_RETURN(const std::vector<Node> items, sources->items());
    for (const Node& item : items) {
      ASSIGN_OR_RETURN(const Mapping source, item.as_mapping({"file", "sha256"}));
      ASSIGN_OR_RETURN(const Node file, source.required("file"));
      ASSIGN_OR_RETURN(const Node digest, source.required("sha256"));
      Provenance::Source entry;
      ASSIGN_OR_RETURN(entry.file, file.text());
      ASSIGN_OR_RETURN(entry.sha256, digest.text());
      provenance.sources.push_back(std::move(entry));
    }
    return {};
  }

  static constexpr OpIndex kAmbiguous = ~OpIndex{0};

  Profile profile_;
  Names streams_{"stream", profile_.streams};
  Names phases_{"phase", profile_.phases};
  std::map<std::string, OpIndex, std::less<>> by_name_;
  std::size_t rank_budget_ = kRankEntriesMax;
};

}  // namespace

Result<Profile> from_text(std::string_view text, std::string file_name) {
  ASSIGN_OR_RETURN(const yaml::Document document, yaml::parse(text, std::move(file_name)));
  return Reader().read(document.root());
}

}  // namespace rehearsal::profile
