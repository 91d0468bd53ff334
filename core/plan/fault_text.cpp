#include "core/plan/fault_text.hpp"

#include <array>
#include <limits>

#include "core/plan/checks.hpp"
#include "core/plan/drill_keys.hpp"
#include "core/plan/host_list.hpp"

namespace rehearsal::plan {
namespace {

using fault::Kind;
using fault::Level;
using yaml::Mapping;
using yaml::Node;

constexpr std::uint32_t kRankMax = std::numeric_limits<std::uint32_t>::max();
constexpr Bytes kTrafficMessage{1U << 20};
constexpr std::uint32_t kTrafficCredits = 4;

// One value, or a list of them.
std::vector<Node> one_or_more(const Node& node) {
  if (!node.is_sequence()) return {node};
  const auto items = node.items();
  return items ? *items : std::vector<Node>{};
}

template <typename Value, typename Read>
Result<void> take_levels(const Mapping& mapping, std::string_view key, fault::What& what,
                         Value Level::*member, Read read) {
  ASSIGN_OR_RETURN(const Node node, mapping.required(key));
  for (const Node& item : one_or_more(node)) {
    Level level;
    ASSIGN_OR_RETURN(level.*member, std::invoke(read, item));
    what.levels.push_back(level);
  }
  if (what.levels.empty()) return node.wrong("is an empty list", "at least one value");
  return {};
}

// How much of background traffic: a share of a rate, or a rate.
Result<Level> read_traffic_rate(const Node& node) {
  ASSIGN_OR_RETURN(const std::string text, node.text());
  Level level;
  if (text.ends_with("bit/s")) {
    ASSIGN_OR_RETURN(level.traffic, node.bit_rate());
    if (level.traffic.bits_per_second() == 0)
      return node.wrong("is no traffic",
                        "a rate above 0bit/s, like 40Gbit/s, or a share, like 50%");
    return level;
  }
  const auto share = fault::parse_fraction(text);
  if (!share)
    return node.wrong("'" + text + "' is neither a share nor a rate", "like 50% or 40Gbit/s");
  level.rate = *share;
  if (level.rate.millionths == 0)
    return node.wrong("is no traffic", "a share above 0%, like 50%, or a rate, like 40Gbit/s");
  return level;
}

Result<void> take_traffic(const Mapping& mapping, fault::What& what) {
  what.message = kTrafficMessage;
  what.credits = kTrafficCredits;
  RETURN_IF_ERROR(take(mapping, "message", what.message, &Node::bytes));
  RETURN_IF_ERROR(take(mapping, "credits", what.credits, count_up_to(kCreditsMax)));
  RETURN_IF_ERROR(take(mapping, "of", what.of, &Node::bit_rate));
  const std::optional<Node> rate = mapping.optional("rate");
  if (!rate) {
    what.levels = {Level{}};
    return {};
  }
  for (const Node& item : one_or_more(*rate)) {
    ASSIGN_OR_RETURN(what.levels.emplace_back(), read_traffic_rate(item));
  }
  if (what.levels.empty()) return rate->wrong("is an empty list", "at least one value");
  return {};
}

// The keys that a kind has beside `kind`.
std::vector<std::string_view> keys_of(Kind kind) {
  switch (kind) {
    case Kind::rate:
      return {"kind", "to", "of"};
    case Kind::delay:
      return {"kind", "by", "jitter"};
    case Kind::loss:
      return {"kind", "share", "retransmission"};
    case Kind::straggler:
      return {"kind", "compute"};
    case Kind::reorder:
      return {"kind", "share", "by"};
    case Kind::duplicate:
    case Kind::corrupt:
      return {"kind", "share"};
    case Kind::mtu:
    case Kind::flow_control:
      return {"kind", "to"};
    case Kind::incast:
    case Kind::background:
      return {"kind", "rate", "of", "message", "credits"};
    case Kind::external:
      return {"kind", "command", "arguments"};
    case Kind::blackhole:
    case Kind::pause:
    case Kind::crash:
    case Kind::link_down:
      return {"kind"};
  }
  return {"kind"};
}

// Which path a flow takes is for the switches to pick, by a hash that no host knows (decision
// 0022).
Failure refuse_one_path(const Node& node) {
  return node.wrong(
      "no host can force flows onto one path while a run goes on: two TCP connections never have "
      "the same ports, and what a switch makes of different ones is not known; the flow label of "
      "queue pairs is set once",
      "transport.rdma.flow_label, by which all queue pairs between two NICs have one UDP source "
      "port (a run with it, and one without), or kind: background from the same host");
}

Result<Kind> read_kind(const Node& node) {
  ASSIGN_OR_RETURN(const auto entries, node.entries());
  for (const auto& [key, value] : entries) {
    if (key != "kind") continue;
    if (const auto word = value.text(); word && *word == "one_path") return refuse_one_path(value);
    return value.one_of({Kind::rate, Kind::delay, Kind::loss, Kind::blackhole, Kind::straggler,
                         Kind::pause, Kind::crash, Kind::duplicate, Kind::reorder, Kind::corrupt,
                         Kind::link_down, Kind::mtu, Kind::flow_control, Kind::incast,
                         Kind::background, Kind::external});
  }
  return node.wrong("key 'kind' is missing", "it must be given");
}

// Types and ranges of arguments are for the host's policy to say.
Result<void> take_call(const Mapping& mapping, fault::What& what) {
  what.levels = {Level{}};
  ASSIGN_OR_RETURN(const Node command, mapping.required("command"));
  ASSIGN_OR_RETURN(what.call.command, command.text());
  const std::optional<Node> arguments = mapping.optional("arguments");
  if (!arguments) return {};
  ASSIGN_OR_RETURN(const auto entries, arguments->entries());
  for (const auto& [name, value] : entries) {
    ASSIGN_OR_RETURN(std::string text, value.text());
    what.call.arguments.push_back({name, std::move(text)});
  }
  return {};
}

Result<bool> read_switch(const Node& node) {
  static constexpr std::array<std::string_view, 2> kWords = {"off", "on"};
  ASSIGN_OR_RETURN(const std::size_t word, node.one_of_words(kWords));
  return word == 1;
}

Result<void> read_levels(const Mapping& mapping, fault::What& what) {
  switch (what.kind) {
    case Kind::rate:
      RETURN_IF_ERROR(take(mapping, "of", what.of, &Node::bit_rate));
      return take_levels(mapping, "to", what, &Level::rate, read_fraction);
    case Kind::delay:
      RETURN_IF_ERROR(take(mapping, "jitter", what.jitter, &Node::duration));
      return take_levels(mapping, "by", what, &Level::delay, &Node::duration);
    case Kind::loss:  // retransmission: see read_fault()
      RETURN_IF_ERROR(take(mapping, "retransmission", what.retransmission, &Node::duration));
      return take_levels(mapping, "share", what, &Level::share, read_fraction);
    case Kind::reorder: {
      Duration by{0};
      ASSIGN_OR_RETURN(const Node delay, mapping.required("by"));
      ASSIGN_OR_RETURN(by, delay.duration());
      RETURN_IF_ERROR(take_levels(mapping, "share", what, &Level::share, read_fraction));
      for (Level& level : what.levels) level.delay = by;
      return {};
    }
    case Kind::straggler:
      return take_levels(mapping, "compute", what, &Level::compute, read_fraction);
    case Kind::duplicate:
    case Kind::corrupt:
      return take_levels(mapping, "share", what, &Level::share, read_fraction);
    case Kind::mtu: {
      const auto read = [](const Node& node) -> Result<std::uint32_t> {
        ASSIGN_OR_RETURN(const Bytes bytes, node.bytes());
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes.count(), kRankMax));
      };
      return take_levels(mapping, "to", what, &Level::mtu, read);
    }
    case Kind::flow_control:
      return take_levels(mapping, "to", what, &Level::pause_frames, read_switch);
    case Kind::incast:
    case Kind::background:
      return take_traffic(mapping, what);
    case Kind::external:
      return take_call(mapping, what);
    case Kind::blackhole:
    case Kind::pause:
    case Kind::crash:
    case Kind::link_down:
      what.levels = {Level{}};
      return {};
  }
  return {};
}

Result<fault::What> read_what(const Node& node) {
  fault::What what;
  ASSIGN_OR_RETURN(what.kind, read_kind(node));
  ASSIGN_OR_RETURN(const Mapping mapping, node.as_mapping(keys_of(what.kind)));
  RETURN_IF_ERROR(read_levels(mapping, what));
  RETURN_IF_ERROR(checked(what, mapping));
  return what;
}

Result<std::vector<std::string>> read_words(const Node& node) {
  std::vector<std::string> words;
  for (const Node& item : one_or_more(node)) {
    ASSIGN_OR_RETURN(words.emplace_back(), item.text());
  }
  return words;
}

Result<std::vector<std::string>> read_hosts(const Node& node) {
  return read_host_names(node, one_or_more(node));
}

Result<fault::Where> read_where(const Node& node) {
  ASSIGN_OR_RETURN(const Mapping mapping,
                   node.as_mapping({"hosts", "share", "job", "ranks", "communicator", "nics",
                                    "rail", "peers", "direction"}));
  fault::Where where;
  RETURN_IF_ERROR(take(mapping, "hosts", where.hosts, read_hosts));
  RETURN_IF_ERROR(take(mapping, "share", where.share, read_fraction));
  RETURN_IF_ERROR(take(mapping, "job", where.job, &Node::text));
  RETURN_IF_ERROR(take(mapping, "communicator", where.communicator, &Node::text));
  RETURN_IF_ERROR(take(mapping, "nics", where.nics, read_words));
  RETURN_IF_ERROR(take(mapping, "peers", where.peers, read_hosts));
  if (const auto ranks = mapping.optional("ranks")) {
    for (const Node& item : one_or_more(*ranks)) {
      ASSIGN_OR_RETURN(where.ranks.emplace_back(), item.integer32(0, kRankMax));
    }
  }
  if (const auto rail = mapping.optional("rail")) {
    ASSIGN_OR_RETURN(where.rail, rail->integer32(0, kNicsMax - 1));
  }
  RETURN_IF_ERROR(take(mapping, "direction", where.side, [](const Node& side) {
    return side.one_of({fault::Side::sent, fault::Side::received, fault::Side::both});
  }));
  RETURN_IF_ERROR(checked(where, mapping));
  return where;
}

Result<void> read_repeat(const Node& node, fault::When& when) {
  ASSIGN_OR_RETURN(const Mapping mapping,
                   node.as_mapping({"on", "off", "on_iterations", "off_iterations"}));
  RETURN_IF_ERROR(take(mapping, "on", when.on, &Node::duration));
  RETURN_IF_ERROR(take(mapping, "off", when.off, &Node::duration));
  RETURN_IF_ERROR(take(mapping, "on_iterations", when.on_iterations, count_up_to(kIterationsMax)));
  return take(mapping, "off_iterations", when.off_iterations, count_up_to(kIterationsMax));
}

Result<fault::When> read_when(const Node& node, Kind kind) {
  ASSIGN_OR_RETURN(const Mapping mapping,
                   node.as_mapping({"iteration", "phase", "after", "for", "iterations", "repeat"}));
  fault::When when;
  if (const auto iteration = mapping.optional("iteration")) {
    ASSIGN_OR_RETURN(when.iteration, iteration->integer32(0, kIterationsMax - 1));
  }
  if (when.iteration.has_value() == mapping.has("after")) {
    return mapping.wrong(when.iteration ? "both 'iteration' and 'after' are given"
                                        : "it is not said when the fault begins",
                         "either 'iteration', like 10, or 'after', like 5s");
  }
  RETURN_IF_ERROR(take(mapping, "after", when.after, &Node::duration));
  RETURN_IF_ERROR(take(mapping, "phase", when.phase, &Node::text));
  RETURN_IF_ERROR(take(mapping, "iterations", when.iterations, count_up_to(kIterationsMax)));
  if (kind == Kind::crash && !mapping.has("for")) {
    when.length = std::chrono::seconds{1};  // there is nobody left to end it
  } else if (!mapping.has("for")) {
    return mapping.wrong("key 'for' is missing: the fault has no deadline",
                         "for: how long it lasts at the most, like 30s");
  }
  RETURN_IF_ERROR(take(mapping, "for", when.length, &Node::duration));
  if (const auto repeat = mapping.optional("repeat")) {
    RETURN_IF_ERROR(read_repeat(*repeat, when));
    if (!when.repeats()) return repeat->wrong("it is never on", "on: and off:, like 1s");
  }
  RETURN_IF_ERROR(checked(when, mapping));
  return when;
}

Result<fault::Fault> read_fault(const Node& node) {
  ASSIGN_OR_RETURN(const Mapping mapping,
                   node.as_mapping({"name", "what", "where", "when", "mechanism"}));
  fault::Fault fault;
  ASSIGN_OR_RETURN(const Node name, mapping.required("name"));
  ASSIGN_OR_RETURN(const Node what, mapping.required("what"));
  ASSIGN_OR_RETURN(const Node where, mapping.required("where"));
  ASSIGN_OR_RETURN(const Node when, mapping.required("when"));
  ASSIGN_OR_RETURN(fault.name, name.text());
  ASSIGN_OR_RETURN(fault.what, read_what(what));
  ASSIGN_OR_RETURN(fault.where, read_where(where));
  ASSIGN_OR_RETURN(fault.when, read_when(when, fault.what.kind));
  if (const auto mechanism = mapping.optional("mechanism")) {
    ASSIGN_OR_RETURN(fault.mechanism,
                     mechanism->one_of({fault::Mechanism::sender, fault::Mechanism::kernel,
                                        fault::Mechanism::device, fault::Mechanism::external}));
  }
  const bool by_sender = fault.mechanism != fault::Mechanism::kernel;
  if (fault.what.kind == Kind::loss && by_sender && fault.what.retransmission == Duration::zero())
    return what.wrong("key 'retransmission' is missing", "it must be given");
  RETURN_IF_ERROR(checked(fault, mapping));
  return fault;
}

}  // namespace

Result<std::vector<fault::Fault>> read_faults(const Node& node) {
  ASSIGN_OR_RETURN(const auto items, node.items());
  std::vector<fault::Fault> faults;
  for (const Node& item : items) {
    if (faults.size() == kFaultsMax) {
      return node.wrong("more than " + std::to_string(kFaultsMax) + " faults", "fewer");
    }
    ASSIGN_OR_RETURN(faults.emplace_back(), read_fault(item));
  }
  return faults;
}

}  // namespace rehearsal::plan
