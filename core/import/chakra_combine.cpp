#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <unordered_map>

#include "core/import/capture.hpp"
#include "core/import/chakra.hpp"
#include "core/import/ranks.hpp"
#include "core/profile/fold.hpp"

namespace rehearsal::importer {
namespace {

using profile::Op;
using profile::OpIndex;
using profile::OpKind;
using profile::Profile;

// Sends and receives have streams of their own: in a trace of an algorithm every rank may send
// before it receives.
constexpr std::uint32_t kStreams = 4;
constexpr std::array<const char*, kStreams> kStreamNames = {"compute", "communication", "send",
                                                            "receive"};

std::uint32_t stream_of(OpKind kind) {
  switch (kind) {
    case OpKind::compute:
      return 0;
    case OpKind::send:
      return 2;
    case OpKind::recv:
      return 3;
    default:
      return 1;
  }
}

/// The last op of each stream, plus one, that must be done; zero: none. A stream runs in order, so
/// this says as much as a list of all of them.
using Needs = std::array<OpIndex, kStreams>;

void add(Needs& needs, const Needs& more) {
  for (std::uint32_t i = 0; i < kStreams; ++i) needs[i] = std::max(needs[i], more[i]);
}

/// One rank's nodes as a graph by position in the file.
class Graph {
 public:
  explicit Graph(const ChakraTrace& trace) : trace_(trace) {}

  Result<void> link() {
    std::unordered_map<std::uint64_t, std::size_t> position;
    for (std::size_t i = 0; i < trace_.nodes.size(); ++i) {
      const auto [found, added] = position.emplace(trace_.nodes[i].id, i);
      if (!added) {
        return wrong_record(trace_.file, "frame", trace_.nodes[i].frame,
                            "id " + std::to_string(trace_.nodes[i].id) + " is also that of frame " +
                                std::to_string(trace_.nodes[found->second].frame));
      }
    }
    after_.resize(trace_.nodes.size());
    for (std::size_t i = 0; i < trace_.nodes.size(); ++i) {
      for (const std::uint64_t id : trace_.nodes[i].after) {
        const auto found = position.find(id);
        if (found == position.end()) {
          ++dangling_;
        } else {
          after_[i].push_back(found->second);
        }
      }
    }
    return {};
  }

  /// Earliest in the file first, as far as dependencies allow; refuses a cycle.
  Result<std::vector<std::size_t>> order() const {
    std::vector<std::vector<std::size_t>> followers(after_.size());
    std::vector<std::size_t> open(after_.size());
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t i = 0; i < after_.size(); ++i) {
      open[i] = after_[i].size();
      for (const std::size_t before : after_[i]) followers[before].push_back(i);
      if (open[i] == 0) ready.push(i);
    }
    std::vector<std::size_t> order;
    while (!ready.empty()) {
      const std::size_t i = ready.top();
      ready.pop();
      order.push_back(i);
      for (const std::size_t follower : followers[i]) {
        if (--open[follower] == 0) ready.push(follower);
      }
    }
    if (order.size() == after_.size()) return order;
    const auto stuck = std::find_if(open.begin(), open.end(), [](std::size_t n) { return n > 0; });
    const ChakraTrace::Node& node = trace_.nodes[static_cast<std::size_t>(stuck - open.begin())];
    return wrong_record(
        trace_.file, "frame", node.frame,
        "node " + std::to_string(node.id) + " is in a cycle of dependencies, or waits for one");
  }

  const std::vector<std::size_t>& after(std::size_t node) const { return after_[node]; }
  std::size_t dangling() const { return dangling_; }

 private:
  const ChakraTrace& trace_;
  std::vector<std::vector<std::size_t>> after_;
  std::size_t dangling_ = 0;
};

Op op_of(const ChakraTrace::Node& node, std::uint32_t ranks) {
  Op op;
  op.kind = *node.kind;
  op.name = node.name;
  op.stream = stream_of(op.kind);
  if (op.kind == OpKind::compute) {
    op.duration = node.duration;
    return op;
  }
  op.peer = node.peer;
  // ASTRA-sim counts one rank's part where many are gathered.
  const bool gathers = op.kind == OpKind::all_gather || op.kind == OpKind::gather;
  op.bytes = node.bytes * (gathers ? ranks : 1);
  op.captured = node.duration;
  return op;
}

/// `after` out of needs; the op's own stream is in order anyway.
std::vector<OpIndex> dependencies(const Needs& needs, std::uint32_t own_stream) {
  std::vector<OpIndex> after;
  for (std::uint32_t stream = 0; stream < kStreams; ++stream) {
    if (stream != own_stream && needs[stream] > 0) after.push_back(needs[stream] - 1);
  }
  std::sort(after.begin(), after.end());
  return after;
}

Result<std::vector<Op>> ops_of(const ChakraTrace& trace, std::uint32_t ranks,
                               std::size_t& dangling) {
  Graph graph(trace);
  RETURN_IF_ERROR(graph.link());
  ASSIGN_OR_RETURN(const std::vector<std::size_t> order, graph.order());
  dangling += graph.dangling();
  std::vector<Needs> to_start(trace.nodes.size());
  std::vector<Needs> when_done(trace.nodes.size());
  std::vector<Op> ops;
  for (const std::size_t i : order) {
    const ChakraTrace::Node& node = trace.nodes[i];
    for (const std::size_t before : graph.after(i)) {
      // A receive need not wait for the rank's own send to be done: only the send's causes count.
      const bool past_send = node.kind == OpKind::recv && trace.nodes[before].kind == OpKind::send;
      add(to_start[i], past_send ? to_start[before] : when_done[before]);
    }
    when_done[i] = to_start[i];
    const bool nothing = !node.kind || (node.kind == OpKind::compute && node.duration.count() == 0);
    if (nothing) continue;
    Op op = op_of(node, ranks);
    op.after = dependencies(to_start[i], op.stream);
    when_done[i][op.stream] = static_cast<OpIndex>(ops.size()) + 1;
    ops.push_back(std::move(op));
  }
  return ops;
}

/// Keeps only the streams that are used.
void drop_unused_streams(std::vector<profile::RankOps>& ranks, Profile& profile) {
  std::array<bool, kStreams> used{};
  for (const auto& rank : ranks) {
    for (const Op& op : rank.ops) used[op.stream] = true;
  }
  std::array<std::uint32_t, kStreams> map{};
  for (std::uint32_t stream = 0; stream < kStreams; ++stream) {
    map[stream] = static_cast<std::uint32_t>(profile.streams.size());
    if (used[stream]) profile.streams.emplace_back(kStreamNames[stream]);
  }
  for (auto& rank : ranks) {
    for (Op& op : rank.ops) op.stream = map[op.stream];
  }
}

}  // namespace

Result<Profile> combine_chakra(std::vector<ChakraTrace> traces) {
  RETURN_IF_ERROR(complete_ranks(traces, std::nullopt, "the Chakra trace"));
  Profile profile;
  profile.ranks = static_cast<std::uint32_t>(traces.size());
  profile.phases = {"iteration"};
  profile::Communicator world{.name = "world", .ranks = {}};
  for (std::uint32_t rank = 0; rank < profile.ranks; ++rank) world.ranks.push_back(Rank{rank});
  profile.communicators.push_back(std::move(world));

  std::vector<profile::RankOps> ranks;
  std::size_t dangling = 0;
  for (const ChakraTrace& trace : traces) {
    ASSIGN_OR_RETURN(std::vector<Op> ops, ops_of(trace, profile.ranks, dangling));
    ranks.push_back({trace.rank, std::move(ops)});
  }
  drop_unused_streams(ranks, profile);
  profile.classes = profile::fold(std::move(ranks));
  profile.provenance.format =
      std::string("chakra") + (traces[0].metadata ? "" : " (no metadata frame)");
  profile.provenance.note = "all collectives taken to be of all ranks";
  if (dangling > 0) {
    profile.provenance.note += "; " + std::to_string(dangling) +
                               " dependencies on nodes that are not in the files are left out";
  }
  return profile;
}

}  // namespace rehearsal::importer
