#include "core/profile/show.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/base/units.hpp"
#include "core/profile/rank_list.hpp"
#include "core/profile/traffic.hpp"

namespace rehearsal::profile {
namespace {

constexpr std::size_t kClassesShown = 8;
constexpr std::size_t kOpsShown = 200;
constexpr std::size_t kMatrixShown = 16;

/// Columns as wide as their widest cell; those in `right` stand to the right.
class Table {
 public:
  Table(std::vector<std::string> head, std::string right)
      : rows_{std::move(head)}, right_(std::move(right)) {}

  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  std::string text() const {
    std::vector<std::size_t> widths(rows_[0].size());
    for (const auto& cells : rows_) {
      for (std::size_t i = 0; i < cells.size(); ++i)
        widths[i] = std::max(widths[i], cells[i].size());
    }
    std::string text;
    for (const auto& cells : rows_) {
      std::string line = " ";
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string space(widths[i] - cells[i].size(), ' ');
        line += " " + (right_[i] == 'r' ? space + cells[i] : cells[i] + space) + " ";
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
    return text;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
  std::string right_;  ///< 'r' or 'l' a column
};

std::string joined(const std::vector<std::string>& texts) {
  std::string line;
  for (const std::string& text : texts) line += (line.empty() ? "" : ", ") + text;
  return line.empty() ? "-" : line;
}

std::string count_of(std::size_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

std::string head_text(const Profile& profile) {
  std::string text = "profile        " + profile.name + "\n";
  text += "identity       " + identity(profile) + "\n";
  text += "ranks          " + std::to_string(profile.ranks) + " in " +
          count_of(profile.classes.size(), "class", "classes") + "\n";
  text += "streams        " + joined(profile.streams) + "\n";
  text += "phases         " + joined(profile.phases) + "\n";
  for (const Communicator& communicator : profile.communicators) {
    text += "communicator   " + communicator.name + ": " +
            count_of(communicator.ranks.size(), "rank", "ranks") + " (" +
            format_ranks(communicator.ranks) + ")\n";
  }
  const Provenance& provenance = profile.provenance;
  if (!provenance.format.empty()) text += "made from      " + provenance.format + "\n";
  if (!provenance.importer.empty()) text += "made by        " + provenance.importer + "\n";
  if (!provenance.note.empty()) text += "note           " + provenance.note + "\n";
  if (!provenance.sources.empty()) {
    text += "sources        " + count_of(provenance.sources.size(), "file", "files") + ", first " +
            provenance.sources[0].file + "\n";
  }
  return text;
}

/// "64.0 MiB", with the exact count where that says more.
std::string size_text(Bytes bytes) {
  if (bytes.count() < 1024) return std::to_string(bytes.count()) + " B";
  return format_bytes(bytes) + " (" + std::to_string(bytes.count()) + ")";
}

std::string op_size(const Profile& profile, const Op& op) {
  if (!is_communication(op.kind) || op.kind == OpKind::barrier) return "-";
  if (op.peer_bytes) return "per peer, " + size_text(traffic_of(profile, op).total) + " in all";
  return size_text(op.bytes);
}

std::string op_time(const Op& op) {
  if (op.kind == OpKind::compute) return format_duration(op.duration);
  return op.captured > Duration::zero() ? "captured " + format_duration(op.captured) : "-";
}

std::string op_where(const Profile& profile, const Op& op) {
  if (!is_communication(op.kind)) return "-";
  const Communicator& communicator = profile.communicators[op.communicator.value];
  std::string text = communicator.name;
  const auto peer = [&] { return "rank " + std::to_string(communicator.ranks[op.peer].value); };
  if (op.kind == OpKind::send) text += ", to " + peer();
  if (op.kind == OpKind::recv) text += ", from " + peer();
  const bool rooted = op.kind == OpKind::broadcast || op.kind == OpKind::reduce ||
                      op.kind == OpKind::gather || op.kind == OpKind::scatter;
  if (rooted) text += ", root " + peer();
  return text;
}

std::string class_text(const Profile& profile, const RankClass& rank_class) {
  Duration compute{0};
  for (const Op& op : rank_class.ops) compute += op.duration;
  const std::string ranks =
      (rank_class.ranks.size() == 1 ? "rank " : "ranks ") + format_ranks(rank_class.ranks);
  std::string text =
      "\nclass " + rank_class.name + ": " + (rank_class.name == ranks ? "" : ranks + ", ") +
      count_of(rank_class.ops.size(), "op", "ops") + ", compute " + format_duration(compute) + "\n";
  Table table({"op", "kind", "name", "phase", "stream", "communicator", "bytes", "time", "after"},
              "rlllllrrl");
  for (std::size_t i = 0; i < std::min(rank_class.ops.size(), kOpsShown); ++i) {
    const Op& op = rank_class.ops[i];
    std::string after;
    for (const OpIndex index : op.after)
      after += (after.empty() ? "" : " ") + std::to_string(index);
    table.row({std::to_string(i), std::string(to_string(op.kind)), op.name,
               profile.phases[op.phase], profile.streams[op.stream], op_where(profile, op),
               op_size(profile, op), op_time(op), after.empty() ? "-" : after});
  }
  text += table.text();
  if (rank_class.ops.size() > kOpsShown) {
    text += "  and " + std::to_string(rank_class.ops.size() - kOpsShown) + " more ops\n";
  }
  return text;
}

/// Collectives that are alike on one communicator.
using Alike = std::tuple<std::uint32_t, OpKind, std::uint64_t, std::uint32_t>;

std::string collectives_text(const Profile& profile) {
  std::map<Alike, std::pair<const Op*, std::uint64_t>> groups;
  std::vector<Alike> order;
  for (std::uint32_t c = 0; c < profile.communicators.size(); ++c) {
    // All ranks of a communicator issue the same: its first rank stands for them.
    for (const Op& op : profile.class_of(profile.communicators[c].ranks.at(0)).ops) {
      if (!is_communication(op.kind) || is_point_to_point(op.kind) || op.communicator.value != c) {
        continue;
      }
      const Alike key{c, op.kind, op.bytes.count(), op.peer_bytes ? *op.peer_bytes + 1 : 0};
      auto& [first, count] = groups[key];
      if (count++ == 0) {
        first = &op;
        order.push_back(key);
      }
    }
  }
  if (order.empty()) return {};
  Table table(
      {"communicator", "kind", "bytes", "count", "a rank sends, least", "most", "all ranks"},
      "llrrrrr");
  Bytes all;
  for (const Alike& key : order) {
    const auto& [op, count] = groups[key];
    const Traffic traffic = traffic_of(profile, *op);
    all += traffic.total * count;
    table.row({profile.communicators[op->communicator.value].name, std::string(to_string(op->kind)),
               op->peer_bytes ? "per peer: " + profile.peer_bytes[*op->peer_bytes].name
                              : std::to_string(op->bytes.count()),
               std::to_string(count), std::to_string(traffic.rank_least.count() * count),
               std::to_string(traffic.rank_most.count() * count),
               std::to_string(traffic.total.count() * count)});
  }
  return "\ncollectives of one iteration, bytes sent to other ranks\n" + table.text() +
         "  in all " + std::to_string(all.count()) + " bytes\n";
}

std::string messages_text(const Profile& profile) {
  std::uint64_t count = 0;
  Bytes bytes;
  for (const RankClass& rank_class : profile.classes) {
    for (const Op& op : rank_class.ops) {
      if (op.kind != OpKind::send) continue;
      count += rank_class.ranks.size();
      bytes += op.bytes * rank_class.ranks.size();
    }
  }
  if (count == 0) return {};
  return "\nsends of one iteration: " + std::to_string(count) + " messages, " +
         std::to_string(bytes.count()) + " bytes in all\n";
}

std::string matrices_text(const Profile& profile) {
  std::string text;
  for (const PeerBytes& matrix : profile.peer_bytes) {
    if (matrix.size > kMatrixShown || matrix.size == 0) continue;
    if (std::count(matrix.bytes.begin(), matrix.bytes.end(), matrix.bytes[0]) ==
        static_cast<std::ptrdiff_t>(matrix.bytes.size())) {
      text += "\nper-peer sizes " + matrix.name + ": " + std::to_string(matrix.bytes[0].count()) +
              " bytes from each to each, itself included\n";
      continue;
    }
    text += "\nper-peer sizes " + matrix.name + ", bytes from (row) to (column)\n";
    std::vector<std::string> head = {"from"};
    for (std::uint32_t to = 0; to < matrix.size; ++to) head.push_back(std::to_string(to));
    head.emplace_back("sum");
    Table table(head, std::string(matrix.size + 2, 'r'));
    for (std::uint32_t from = 0; from < matrix.size; ++from) {
      std::vector<std::string> row = {std::to_string(from)};
      for (std::uint32_t to = 0; to < matrix.size; ++to) {
        row.push_back(std::to_string(matrix.from_to(from, to).count()));
      }
      row.push_back(std::to_string(matrix.sent_by(from).count()));
      table.row(std::move(row));
    }
    std::vector<std::string> sums = {"sum"};
    for (std::uint32_t to = 0; to < matrix.size; ++to) {
      sums.push_back(std::to_string(matrix.received_by(to).count()));
    }
    table.row(std::move(sums));
    text += table.text();
  }
  return text;
}

}  // namespace

std::string show(const Profile& profile) {
  std::string text = head_text(profile);
  text += collectives_text(profile) + messages_text(profile) + matrices_text(profile);
  for (std::size_t i = 0; i < std::min(profile.classes.size(), kClassesShown); ++i) {
    text += class_text(profile, profile.classes[i]);
  }
  if (profile.classes.size() > kClassesShown) {
    text += "\nand " + std::to_string(profile.classes.size() - kClassesShown) +
            " more classes; --json has them all\n";
  }
  return text;
}

}  // namespace rehearsal::profile
