#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "core/profile/limits.hpp"
#include "core/profile/profile.hpp"

namespace rehearsal::profile {
namespace {

constexpr std::size_t kProblemsMax = 100;
constexpr std::uint32_t kNoClass = ~0U;

/// Collects lines; after kProblemsMax only says that there are more.
class Problems {
 public:
  void add(std::string line) {
    if (lines_.size() < kProblemsMax) {
      lines_.push_back(std::move(line));
    } else if (lines_.size() == kProblemsMax) {
      lines_.push_back("and more: only the first " + std::to_string(kProblemsMax) + " are listed");
    }
  }
  bool empty() const { return lines_.empty(); }
  std::vector<std::string> take() { return std::move(lines_); }

 private:
  std::vector<std::string> lines_;
};

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

std::string op_label(const RankClass& rank_class, std::size_t index) {
  const Op& op = rank_class.ops[index];
  std::string label = "class " + quoted(rank_class.name) + ", op " + std::to_string(index) + " (" +
                      std::string(to_string(op.kind));
  if (!op.name.empty()) label += " " + quoted(op.name);
  return label + ")";
}

// --- names and lists ---------------------------------------------------------------------------

void check_names(const std::vector<std::string>& names, std::string_view what, Problems& problems) {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (name.empty()) problems.add(std::string(what) + " without a name; every one needs a name");
    if (!seen.insert(name).second) {
      problems.add(std::string(what) + " " + quoted(name) + " is there twice; names must differ");
    }
  }
}

template <typename T>
std::vector<std::string> names_of(const std::vector<T>& things) {
  std::vector<std::string> names;
  for (const T& thing : things) names.push_back(thing.name);
  return names;
}

void check_frame(const Profile& profile, Problems& problems) {
  if (profile.ranks == 0) problems.add("ranks: the job has none; at least 1 is needed");
  if (profile.ranks > kRanksMax) {
    problems.add("ranks: " + std::to_string(profile.ranks) + "; at most " +
                 std::to_string(kRanksMax) + " are possible");
  }
  if (profile.phases.empty()) problems.add("phases: there is none; name one, like 'iteration'");
  check_names(profile.streams, "stream", problems);
  check_names(profile.phases, "phase", problems);
  check_names(names_of(profile.communicators), "communicator", problems);
  check_names(names_of(profile.peer_bytes), "per_peer_bytes", problems);
  check_names(names_of(profile.classes), "class", problems);
}

void check_communicators(const Profile& profile, Problems& problems) {
  for (const Communicator& communicator : profile.communicators) {
    const std::string label = "communicator " + quoted(communicator.name);
    if (communicator.ranks.empty()) problems.add(label + ": it has no ranks");
    std::set<Rank> seen;
    for (const Rank rank : communicator.ranks) {
      if (rank.value >= profile.ranks) {
        problems.add(label + ": rank " + std::to_string(rank.value) +
                     " does not exist; the job has " + std::to_string(profile.ranks) + " ranks");
      }
      if (!seen.insert(rank).second) {
        problems.add(label + ": rank " + std::to_string(rank.value) + " is there twice");
      }
    }
  }
}

void check_peer_bytes(const Profile& profile, Problems& problems) {
  for (const PeerBytes& matrix : profile.peer_bytes) {
    const std::string label = "per_peer_bytes " + quoted(matrix.name);
    const std::uint64_t entries = std::uint64_t{matrix.size} * matrix.size;
    if (matrix.bytes.size() != entries) {
      problems.add(label + ": " + std::to_string(matrix.bytes.size()) + " sizes; a table of " +
                   std::to_string(matrix.size) + " positions has " + std::to_string(entries));
    }
    for (const Bytes bytes : matrix.bytes) {
      if (bytes.count() > kOpBytesMax) {
        problems.add(label + ": a size of " + std::to_string(bytes.count()) +
                     " B; at most 1 PiB is possible");
        break;
      }
    }
  }
}

/// The class of each rank, by index; says which ranks have none or two.
std::vector<std::uint32_t> check_classes(const Profile& profile, Problems& problems) {
  std::vector<std::uint32_t> class_of(std::min(profile.ranks, kRanksMax), kNoClass);
  for (std::uint32_t i = 0; i < profile.classes.size(); ++i) {
    const RankClass& rank_class = profile.classes[i];
    const std::string label = "class " + quoted(rank_class.name);
    if (rank_class.ranks.empty()) problems.add(label + ": it has no ranks");
    if (!std::is_sorted(rank_class.ranks.begin(), rank_class.ranks.end())) {
      problems.add(label + ": its ranks are not ascending");
    }
    for (const Rank rank : rank_class.ranks) {
      if (rank.value >= class_of.size()) {
        problems.add(label + ": rank " + std::to_string(rank.value) +
                     " does not exist; the job has " + std::to_string(profile.ranks) + " ranks");
      } else if (class_of[rank.value] != kNoClass) {
        problems.add(label + ": rank " + std::to_string(rank.value) + " is also in class " +
                     quoted(profile.classes[class_of[rank.value]].name) +
                     "; every rank has just one class");
      } else {
        class_of[rank.value] = i;
      }
    }
  }
  std::vector<Rank> homeless;
  for (std::uint32_t rank = 0; rank < class_of.size(); ++rank) {
    if (class_of[rank] == kNoClass) homeless.push_back(Rank{rank});
  }
  if (!homeless.empty()) {
    problems.add(
        "rank " + std::to_string(homeless.front().value) +
        (homeless.size() > 1 ? " and " + std::to_string(homeless.size() - 1) + " more" : "") +
        " in no class; every rank has just one class");
  }
  return class_of;
}

// --- one op --------------------------------------------------------------------------------------

bool has_root_or_peer(OpKind kind) {
  return kind == OpKind::broadcast || kind == OpKind::reduce || kind == OpKind::gather ||
         kind == OpKind::scatter || is_point_to_point(kind);
}

/// Checks an op against its communicator; all indices it needs must have been found in range.
void check_sizes(const Profile& profile, const Op& op, const std::string& label,
                 Problems& problems) {
  const Communicator& communicator = profile.communicators[op.communicator.value];
  if (op.bytes.count() > kOpBytesMax) problems.add(label + ": bytes are over 1 PiB");
  if (op.kind == OpKind::barrier && op.bytes != Bytes{0}) {
    problems.add(label + ": a barrier has no bytes");
  }
  if (has_root_or_peer(op.kind) && op.peer >= communicator.size()) {
    problems.add(label + ": position " + std::to_string(op.peer) + " of communicator " +
                 quoted(communicator.name) + ", which has " + std::to_string(communicator.size()) +
                 " ranks");
  }
  if (!op.peer_bytes) return;
  if (op.kind != OpKind::all_to_all) {
    problems.add(label + ": per-peer sizes, which only an all_to_all has");
  } else if (op.bytes != Bytes{0}) {
    problems.add(label + ": both bytes and per-peer sizes; give one of them");
  }
  if (*op.peer_bytes >= profile.peer_bytes.size()) {
    problems.add(label + ": per_peer_bytes number " + std::to_string(*op.peer_bytes) + " of " +
                 std::to_string(profile.peer_bytes.size()));
  } else if (profile.peer_bytes[*op.peer_bytes].size != communicator.size()) {
    problems.add(label + ": per_peer_bytes " + quoted(profile.peer_bytes[*op.peer_bytes].name) +
                 " is for " + std::to_string(profile.peer_bytes[*op.peer_bytes].size) +
                 " ranks, communicator " + quoted(communicator.name) + " has " +
                 std::to_string(communicator.size()));
  }
}

void check_members(const Communicator& communicator, const RankClass& rank_class,
                   const std::string& label, Problems& problems) {
  const std::set<Rank> members(communicator.ranks.begin(), communicator.ranks.end());
  for (const Rank rank : rank_class.ranks) {
    if (members.contains(rank)) continue;
    problems.add(label + ": rank " + std::to_string(rank.value) +
                 " of the class is no member of communicator " + quoted(communicator.name));
    return;
  }
}

void check_op(const Profile& profile, const RankClass& rank_class, std::size_t index,
              Problems& problems) {
  const Op& op = rank_class.ops[index];
  const auto wrong = [&](const std::string& what) {
    problems.add(op_label(rank_class, index) + ": " + what);
  };
  if (op.stream >= profile.streams.size()) {
    wrong("stream number " + std::to_string(op.stream) + " of " +
          std::to_string(profile.streams.size()));
  }
  if (op.phase >= profile.phases.size()) {
    wrong("phase number " + std::to_string(op.phase) + " of " +
          std::to_string(profile.phases.size()));
  }
  for (std::size_t i = 0; i < op.after.size(); ++i) {
    if (op.after[i] >= index) {
      wrong("after op " + std::to_string(op.after[i]) + "; an op can only wait for earlier ones");
    } else if (i > 0 && op.after[i] <= op.after[i - 1]) {
      wrong("'after' is not ascending, or names an op twice");
    }
  }
  if (op.kind == OpKind::compute) {
    if (op.duration < Duration::zero() || op.duration.count() > kDurationNanosecondsMax) {
      wrong("a duration of " + std::to_string(op.duration.count()) + " ns; 0 to 24 h is possible");
    }
  } else if (op.captured < Duration::zero() || op.captured.count() > kDurationNanosecondsMax) {
    wrong("a captured duration of " + std::to_string(op.captured.count()) + " ns");
  } else if (op.communicator.value >= profile.communicators.size()) {
    wrong("communicator number " + std::to_string(op.communicator.value) + " of " +
          std::to_string(profile.communicators.size()));
  } else {
    check_sizes(profile, op, op_label(rank_class, index), problems);
  }
}

/// An op must not be in an earlier phase than one it waits for, or mode `phase` could never run it.
void check_phase_order(const RankClass& rank_class, Problems& problems) {
  std::map<std::uint32_t, std::size_t> last_of_stream;
  std::map<std::uint32_t, std::size_t> last_collective;
  for (std::size_t i = 0; i < rank_class.ops.size(); ++i) {
    const Op& op = rank_class.ops[i];
    const auto compare = [&](std::size_t earlier) {
      if (rank_class.ops[earlier].phase <= op.phase) return;
      problems.add(op_label(rank_class, i) + ": it waits for op " + std::to_string(earlier) +
                   ", which belongs to a later phase");
    };
    for (const OpIndex earlier : op.after) {
      if (earlier < i) compare(earlier);
    }
    if (const auto found = last_of_stream.find(op.stream); found != last_of_stream.end()) {
      compare(found->second);
    }
    last_of_stream[op.stream] = i;
    if (!is_communication(op.kind) || is_point_to_point(op.kind)) continue;
    if (const auto found = last_collective.find(op.communicator.value);
        found != last_collective.end()) {
      compare(found->second);
    }
    last_collective[op.communicator.value] = i;
  }
}

void check_ops(const Profile& profile, Problems& problems) {
  for (const RankClass& rank_class : profile.classes) {
    std::set<CommunicatorIndex> used;
    for (std::size_t i = 0; i < rank_class.ops.size(); ++i) {
      check_op(profile, rank_class, i, problems);
      const Op& op = rank_class.ops[i];
      if (is_communication(op.kind) && op.communicator.value < profile.communicators.size() &&
          used.insert(op.communicator).second) {
        check_members(profile.communicators[op.communicator.value], rank_class,
                      op_label(rank_class, i), problems);
      }
    }
    check_phase_order(rank_class, problems);
  }
}

// --- between ranks -------------------------------------------------------------------------------

/// What must be the same on all ranks of a communicator.
auto agreement(const Op& op) {
  return std::tuple(op.kind, op.bytes, op.peer_bytes, has_root_or_peer(op.kind) ? op.peer : 0,
                    op.phase);
}

std::string describe(const Profile& profile, const Op& op) {
  std::string text(to_string(op.kind));
  if (op.peer_bytes) {
    text += " with " + quoted(profile.peer_bytes[*op.peer_bytes].name);
  } else {
    text += " of " + std::to_string(op.bytes.count()) + " B";
  }
  if (has_root_or_peer(op.kind)) text += ", root " + std::to_string(op.peer);
  return text + ", phase " + quoted(profile.phases[op.phase]);
}

std::vector<std::vector<const Op*>> collectives_by_communicator(const Profile& profile,
                                                                const RankClass& rank_class) {
  std::vector<std::vector<const Op*>> lists(profile.communicators.size());
  for (const Op& op : rank_class.ops) {
    if (is_communication(op.kind) && !is_point_to_point(op.kind)) {
      lists[op.communicator.value].push_back(&op);
    }
  }
  return lists;
}

void compare_collectives(const Profile& profile, const Communicator& communicator,
                         const std::string& reference_class,
                         const std::vector<const Op*>& reference, const std::string& other_class,
                         const std::vector<const Op*>& other, Problems& problems) {
  const std::string label = "communicator " + quoted(communicator.name);
  for (std::size_t i = 0; i < std::min(reference.size(), other.size()); ++i) {
    if (agreement(*reference[i]) == agreement(*other[i])) continue;
    problems.add(label + ", collective " + std::to_string(i) + ": class " +
                 quoted(reference_class) + " has " + describe(profile, *reference[i]) + ", class " +
                 quoted(other_class) + " has " + describe(profile, *other[i]) +
                 "; all ranks must issue the same in the same order");
    return;
  }
  if (reference.size() != other.size()) {
    problems.add(label + ": class " + quoted(reference_class) + " issues " +
                 std::to_string(reference.size()) + " collectives, class " + quoted(other_class) +
                 " issues " + std::to_string(other.size()));
  }
}

void check_collectives(const Profile& profile, const std::vector<std::uint32_t>& class_of,
                       Problems& problems) {
  std::vector<std::vector<std::vector<const Op*>>> lists;
  for (const RankClass& rank_class : profile.classes) {
    lists.push_back(collectives_by_communicator(profile, rank_class));
  }
  for (std::size_t c = 0; c < profile.communicators.size(); ++c) {
    const Communicator& communicator = profile.communicators[c];
    std::set<std::uint32_t> classes;
    for (const Rank rank : communicator.ranks) classes.insert(class_of[rank.value]);
    const std::uint32_t reference = *classes.begin();
    for (const std::uint32_t other : classes) {
      if (other == reference) continue;
      compare_collectives(profile, communicator, profile.classes[reference].name,
                          lists[reference][c], profile.classes[other].name, lists[other][c],
                          problems);
    }
  }
}

/// Messages of one communicator from one position to another, in the order they are issued.
struct Messages {
  std::vector<const Op*> sends;
  std::vector<const Op*> recvs;
};

void check_messages(const Profile& profile, Problems& problems) {
  std::map<std::tuple<std::uint32_t, Rank, Rank>, Messages> pairs;
  for (const RankClass& rank_class : profile.classes) {
    for (std::size_t i = 0; i < rank_class.ops.size(); ++i) {
      const Op& op = rank_class.ops[i];
      if (!is_point_to_point(op.kind)) continue;
      const Communicator& communicator = profile.communicators[op.communicator.value];
      const Rank peer = communicator.ranks[op.peer];
      for (const Rank rank : rank_class.ranks) {
        if (rank == peer) problems.add(op_label(rank_class, i) + ": its peer is its own rank");
        if (op.kind == OpKind::send) {
          pairs[{op.communicator.value, rank, peer}].sends.push_back(&op);
        } else {
          pairs[{op.communicator.value, peer, rank}].recvs.push_back(&op);
        }
      }
    }
  }
  for (const auto& [key, messages] : pairs) {
    const auto& [communicator, from, to] = key;
    const std::string label = "communicator " + quoted(profile.communicators[communicator].name) +
                              ", rank " + std::to_string(from.value) + " to rank " +
                              std::to_string(to.value);
    if (messages.sends.size() != messages.recvs.size()) {
      problems.add(label + ": " + std::to_string(messages.sends.size()) + " send, " +
                   std::to_string(messages.recvs.size()) + " recv; every send needs its recv");
      continue;
    }
    for (std::size_t i = 0; i < messages.sends.size(); ++i) {
      const Op& send = *messages.sends[i];
      const Op& recv = *messages.recvs[i];
      if (send.bytes == recv.bytes && send.phase == recv.phase) continue;
      problems.add(label + ", message " + std::to_string(i) + ": the send has " +
                   std::to_string(send.bytes.count()) + " B in phase " +
                   quoted(profile.phases[send.phase]) + ", the recv " +
                   std::to_string(recv.bytes.count()) + " B in phase " +
                   quoted(profile.phases[recv.phase]) + "; both must agree");
      break;
    }
  }
}

}  // namespace

std::vector<std::string> problems(const Profile& profile) {
  Problems found;
  check_frame(profile, found);
  check_communicators(profile, found);
  check_peer_bytes(profile, found);
  const std::vector<std::uint32_t> class_of = check_classes(profile, found);
  check_ops(profile, found);
  if (!found.empty()) return found.take();  // what follows relies on indices in range

  check_collectives(profile, class_of, found);
  check_messages(profile, found);
  return found.take();
}

}  // namespace rehearsal::profile
