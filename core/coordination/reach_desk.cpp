#include "core/coordination/reach_desk.hpp"

#include <algorithm>
#include <utility>

#include "core/base/random.hpp"
#include "core/base/text.hpp"
#include "core/base/units.hpp"
#include "core/coordination/log.hpp"
#include "core/coordination/messages.hpp"

namespace rehearsal::coordination {
namespace {

using Health = host::Finding::Health;

constexpr std::size_t kLinksOfAgentMax = 4096;
constexpr std::size_t kProblemBytesMax = 512;
constexpr std::size_t kFindingsMax = 256;
constexpr std::size_t kAddressBytesMax = 8192;

std::optional<NicIndex> same_rail(const plan::Nic& nic, std::size_t index,
                                  const plan::Inventory& other) {
  for (std::uint32_t i = 0; i < other.nics.size(); ++i)
    if (other.nics[i].name == nic.name) return NicIndex{i};
  if (index < other.nics.size()) return NicIndex{static_cast<std::uint32_t>(index)};
  return std::nullopt;
}

void add(std::vector<ReachPath>& paths, const plan::Inventory& from, const plan::Inventory& to) {
  for (std::uint32_t i = 0; i < from.nics.size(); ++i) {
    const auto nic = same_rail(from.nics[i], i, to);
    if (nic) paths.push_back({from.host, to.host, NicIndex{i}, *nic});
  }
}

const plan::Nic& nic_of(const std::vector<plan::Inventory>& hosts, const std::string& host,
                        NicIndex nic) {
  return std::ranges::find(hosts, host, &plan::Inventory::host)->nics[nic.value];
}

/// "REHEARSAL-RDMA-007" of "[REHEARSAL-RDMA-007] …", as errors of the catalogue begin.
std::string catalogue_id(const std::string& text) {
  constexpr std::string_view kBegin = "[REHEARSAL-";
  const std::size_t begin = text.find(kBegin);
  const std::size_t end = begin == std::string::npos ? begin : text.find(']', begin);
  return end == std::string::npos ? "" : text.substr(begin + 1, end - begin - 1);
}

std::string one_mtu(const plan::Nic& from, const plan::Nic& to) {
  return "give interfaces and switches one MTU (here " + std::to_string(from.mtu) + ", there " +
         std::to_string(to.mtu) + ")";
}

/// What to do about it; may say better what it is.
void explain_cause(host::Finding& finding, ReachCause cause, const ReachPath& path,
                   const plan::Nic& from, const plan::Nic& to) {
  const std::string way = from.address + " to " + to.address;
  switch (cause) {
    case ReachCause::timed_out:
      finding.what = "no answer from " + way + ": packets are dropped on the way";
      finding.fix = "a firewall? look at `nft list ruleset` on " + path.to + " and " + path.from +
                    " and at the switches' lists; let TCP between data addresses pass (ports: "
                    "net.ipv4.ip_local_port_range of " +
                    path.to + "); is " + to.address + " on that cable?";
      return;
    case ReachCause::refused:
      finding.what = "refused from " + way;
      finding.fix = "a firewall that rejects, or " + to.address +
                    " is somebody else's address: look at `nft list ruleset` on " + path.to;
      return;
    case ReachCause::unreachable:
      finding.fix = "no way from " + way + ": `ip route get " + to.address + " from " +
                    from.address + "` on " + path.from + " shows which route is meant";
      return;
    case ReachCause::no_address:
      finding.fix = "the address is no longer on the host: restart its agent after repairing it";
      return;
    case ReachCause::path_mtu:
      finding.fix = one_mtu(from, to);
      return;
    case ReachCause::no_agent:
    case ReachCause::unknown:
      finding.fix = "see the agents' logs on " + path.from + " and " + path.to;
      return;
  }
}

/// What is wrong on a way, and what to do about it.
host::Finding explain(const ReachPath& path, const ReachOutcome& outcome, const plan::Nic& from,
                      const plan::Nic& to) {
  host::Finding finding{.health = Health::bad,
                        .subject = path.from + " " + from.name + " → " + path.to + " " + to.name,
                        .what = outcome.problem.empty() ? outcome.receiver : outcome.problem,
                        .fix = {}};
  const std::string way = from.address + " to " + to.address;
  if (const std::string id = catalogue_id(finding.what); !id.empty()) {
    finding.fix = "`rehearse explain " + id + "`";
    if (outcome.cause == ReachCause::path_mtu) finding.fix += "; " + one_mtu(from, to);
    if (outcome.cause == ReachCause::timed_out)
      finding.fix += "; RoCE v2 is UDP to port 4791, let it pass from " + way;
  } else if (outcome.connected && outcome.cause != ReachCause::no_agent) {
    finding.what = "connected from " + way + ", but a message of full-size frames did not arrive" +
                   (finding.what.empty() ? "" : ": " + finding.what);
    finding.fix = "a smaller MTU on the way? `ping -M do -s " +
                  std::to_string(from.mtu > 28 ? from.mtu - 28 : 1472) + " -I " + from.address +
                  " " + to.address + "` on " + path.from + "; " + one_mtu(from, to);
  } else {
    explain_cause(finding, outcome.cause, path, from, to);
  }
  return finding;
}

/// The path MTU that the ways of a transport have agreed on, if it has one.
std::optional<host::Finding> path_mtu_finding(const std::vector<ReachPath>& paths,
                                              const std::vector<ReachOutcome>& outcomes,
                                              const std::vector<plan::Inventory>& hosts) {
  std::optional<std::size_t> least;
  std::uint32_t most = 0;
  bool all = true;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    all = all && outcomes[i].path_mtu != 0;
    if (outcomes[i].path_mtu == 0) continue;
    if (!least || outcomes[i].path_mtu < outcomes[*least].path_mtu) least = i;
    most = std::max(most, outcomes[i].path_mtu);
  }
  if (!least) return std::nullopt;
  const std::uint32_t mtu = outcomes[*least].path_mtu;
  const std::string text = "path MTU " + std::to_string(mtu) + " B";
  if (mtu == most)
    return host::Finding{
        Health::good, "cluster", text + " on all ways" + (all ? "" : " that connected"), {}};
  const ReachPath& path = paths[*least];
  return host::Finding{
      Health::notable, "cluster",
      text + " from " + path.from + " " + nic_of(hosts, path.from, path.from_nic).name + " to " +
          path.to + " " + nic_of(hosts, path.to, path.to_nic).name + ", " + std::to_string(most) +
          " B on others",
      "give all data NICs one MTU (RoCE needs the path MTU and 74 bytes), or set path_mtu: " +
          std::to_string(mtu) + "B in the drill's transport"};
}

ReachCause cause_of(const protocol::ReachOutcome& said) {
  switch (said.cause()) {
    case protocol::ReachOutcome::CAUSE_TIMED_OUT:
      return ReachCause::timed_out;
    case protocol::ReachOutcome::CAUSE_REFUSED:
      return ReachCause::refused;
    case protocol::ReachOutcome::CAUSE_UNREACHABLE:
      return ReachCause::unreachable;
    case protocol::ReachOutcome::CAUSE_NO_ADDRESS:
      return ReachCause::no_address;
    case protocol::ReachOutcome::CAUSE_PATH_MTU:
      return ReachCause::path_mtu;
    default:
      return ReachCause::unknown;
  }
}

}  // namespace

std::vector<ReachPath> reach_paths(const std::vector<plan::Inventory>& hosts, std::uint64_t seed) {
  std::vector<ReachPath> paths;
  const std::size_t count = hosts.size();
  if (count <= kReachHostsMax) {
    for (const plan::Inventory& from : hosts)
      for (const plan::Inventory& to : hosts)
        if (&from != &to) add(paths, from, to);
    return paths;
  }
  Random random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    std::set<std::size_t> others = {(i + 1) % count};
    while (others.size() < 1 + kReachRandom) {
      const std::size_t other = random.below(count);
      if (other != i) others.insert(other);
    }
    for (const std::size_t other : others) add(paths, hosts[i], hosts[other]);
  }
  return paths;
}

std::vector<host::Finding> reach_findings(const std::vector<ReachPath>& paths,
                                          const std::vector<ReachOutcome>& outcomes,
                                          const std::vector<plan::Inventory>& hosts,
                                          plan::TransportKind transport) {
  std::vector<host::Finding> findings;
  std::size_t good = 0;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const ReachPath& path = paths[i];
    if (outcomes[i].connected && outcomes[i].moved) {
      ++good;
    } else if (findings.size() < kFindingsMax) {
      findings.push_back(explain(path, outcomes[i], nic_of(hosts, path.from, path.from_nic),
                                 nic_of(hosts, path.to, path.to_nic)));
    }
  }
  if (auto mtu = path_mtu_finding(paths, outcomes, hosts)) findings.push_back(std::move(*mtu));
  const bool all = good == paths.size();
  const std::size_t sampled = hosts.size() > kReachHostsMax ? kReachRandom + 1 : 0;
  findings.push_back(
      {.health = all ? Health::good : Health::bad,
       .subject = "cluster",
       .what = std::to_string(good) + " of " + std::to_string(paths.size()) +
               " ways between data NICs carry messages over " +
               std::string(plan::to_string(transport)) +
               (sampled == 0 ? " (all pairs of hosts)"
                             : " (to " + std::to_string(sampled) + " others from each host)"),
       .fix = all ? "" : "a run over the others would fail; see each of them"});
  return findings;
}

Result<void> ReachDesk::ask(SessionId person, const protocol::ReachRequest& request,
                            const AgentTable& agents, std::string token, Instant now) {
  const auto refuse = [](const std::string& why) {
    return fail(ErrorCode::refused, ErrorSource::control, why);
  };
  if (question_) return refuse("somebody asks this already; try again in a few seconds");
  const bool rdma = request.transport() == "rdma";
  if (!rdma && request.transport() != "tcp")
    return refuse("transport " + in_quotes(one_line(request.transport())) +
                  " reaches nobody; right would be tcp or rdma");
  Question question{.order = ++orders_,
                    .person = person,
                    .transport = rdma ? plan::TransportKind::rdma : plan::TransportKind::tcp,
                    .hosts = agents.inventories()};
  question.paths = reach_paths(question.hosts, request.seed());
  if (question.paths.empty())
    return refuse("fewer than two agents with data NICs are here; `rehearse status` shows them");
  question.outcomes.resize(question.paths.size());
  question.to_sender.resize(question.paths.size());
  question.to_receiver.resize(question.paths.size());
  for (const auto& [host, agent] : agents.entries()) question.agents.emplace(agent.session, host);
  question_ = std::move(question);
  open(std::move(token), now);
  return {};
}

void ReachDesk::tell_all(protocol::ReachOrder order) {
  order.set_order(question_->order);
  for (const auto& [session, host] : question_->agents) {
    protocol::Envelope envelope;
    protocol::ReachOrder& mine = *envelope.mutable_reach_order();
    mine = order;
    std::set<std::string> others;  // of a thousand hosts an agent hears of its own few
    for (std::uint32_t i = 0; i < question_->paths.size(); ++i) {
      const ReachPath& path = question_->paths[i];
      const bool outgoing = path.from == host;
      if (!outgoing && path.to != host) continue;
      if (order.step() == protocol::ReachOrder::STEP_CLOSE) continue;
      if (order.step() == protocol::ReachOrder::STEP_CONNECT &&
          !question_->outcomes[i].problem.empty())
        continue;  // an end could not be opened
      if (mine.links_size() == static_cast<int>(kLinksOfAgentMax)) break;
      protocol::ReachLink& link = *mine.add_links();
      link.set_link(i);
      link.set_outgoing(outgoing);
      link.set_nic(outgoing ? path.from_nic.value : path.to_nic.value);
      link.set_address(outgoing ? question_->to_sender[i] : question_->to_receiver[i]);
      if (order.step() != protocol::ReachOrder::STEP_OPEN) continue;
      others.insert(outgoing ? nic_of(question_->hosts, path.to, path.to_nic).address
                             : nic_of(question_->hosts, path.from, path.from_nic).address);
    }
    for (const std::string& address : others) mine.add_addresses(address);
    outbox_.send(session, std::move(envelope));
  }
}

void ReachDesk::open(std::string token, Instant now) {
  protocol::ReachOrder order;
  order.set_step(protocol::ReachOrder::STEP_OPEN);
  order.set_token(std::move(token));
  order.set_transport(std::string(plan::to_string(question_->transport)));
  order.set_limit_ns(static_cast<std::uint64_t>(kConnectLimit.count()));
  tell_all(std::move(order));
  for (const auto& [session, host] : question_->agents) question_->waiting.insert(session);
  question_->deadline = now + kOpenPatience;
}

void ReachDesk::connect(Instant now) {
  question_->connecting = true;
  protocol::ReachOrder order;
  order.set_step(protocol::ReachOrder::STEP_CONNECT);
  tell_all(std::move(order));
  for (const auto& [session, host] : question_->agents) question_->waiting.insert(session);
  question_->deadline = now + kConnectPatience;
}

void ReachDesk::problem_of(const std::string& host, const std::string& problem) {
  for (std::size_t i = 0; i < question_->paths.size(); ++i) {
    const ReachPath& path = question_->paths[i];
    if (path.from != host && path.to != host) continue;
    ReachOutcome& outcome = question_->outcomes[i];
    if (!outcome.problem.empty()) continue;
    outcome.problem = host + ": " + problem;
    outcome.cause = ReachCause::no_agent;  // not what the other end had said
  }
}

void ReachDesk::take(const std::string& host, const protocol::ReachReport& report) {
  if (!report.problem().empty())
    problem_of(host, cut(one_line(report.problem()), kProblemBytesMax));
  for (const protocol::ReachOutcome& said : report.outcomes()) {
    if (said.link() >= question_->paths.size()) continue;
    const ReachPath& path = question_->paths[said.link()];
    ReachOutcome& outcome = question_->outcomes[said.link()];
    const bool sends = path.from == host;
    if (!sends && path.to != host) continue;
    const std::string problem = cut(one_line(said.problem()), kProblemBytesMax);
    if (!question_->connecting) {
      if (!problem.empty() && outcome.problem.empty()) {
        outcome.problem = host + ": " + problem;
        outcome.cause = cause_of(said);
      }
      if (said.address().size() <= kAddressBytesMax)
        (sends ? question_->to_receiver : question_->to_sender)[said.link()] = said.address();
    } else if (sends) {
      outcome.connected = said.connected();
      outcome.path_mtu = said.path_mtu();
      if (outcome.problem.empty() && !problem.empty()) {
        outcome.problem = problem;
        outcome.cause = cause_of(said);
      }
    } else {
      outcome.moved = said.moved();
      outcome.receiver = problem;
      if (outcome.problem.empty()) outcome.cause = cause_of(said);
    }
  }
}

void ReachDesk::answered(SessionId agent, const protocol::ReachReport& report, Instant now) {
  if (!question_ || report.order() != question_->order) return;
  const auto step =
      question_->connecting ? protocol::ReachOrder::STEP_CONNECT : protocol::ReachOrder::STEP_OPEN;
  if (report.step() != step || question_->waiting.erase(agent) == 0) return;
  take(question_->agents.at(agent), report);
  go_on(now);
}

void ReachDesk::agent_lost(SessionId agent, Instant now) {
  if (!question_ || !question_->agents.contains(agent)) return;
  problem_of(question_->agents.at(agent), "its agent left");
  question_->agents.erase(agent);
  question_->waiting.erase(agent);
  go_on(now);
}

void ReachDesk::person_gone(SessionId person) {
  if (!question_ || question_->person != person) return;
  protocol::ReachOrder order;
  order.set_step(protocol::ReachOrder::STEP_CLOSE);
  tell_all(std::move(order));
  question_.reset();
}

void ReachDesk::tick(Instant now) {
  if (!question_ || now < question_->deadline) return;
  for (const SessionId agent : std::exchange(question_->waiting, {}))
    problem_of(question_->agents.at(agent),
               "no answer within " +
                   format_duration(question_->connecting ? kConnectPatience : kOpenPatience));
  go_on(now);
}

void ReachDesk::go_on(Instant now) {
  if (!question_->waiting.empty()) return;
  if (!question_->connecting) return connect(now);
  finish();
}

void ReachDesk::finish() {
  protocol::ReachOrder order;
  order.set_step(protocol::ReachOrder::STEP_CLOSE);
  tell_all(std::move(order));
  protocol::Envelope envelope;
  for (const host::Finding& finding : reach_findings(question_->paths, question_->outcomes,
                                                     question_->hosts, question_->transport))
    to_message(finding, *envelope.mutable_reach_reply()->add_findings());
  outbox_.send(question_->person, std::move(envelope));
  question_.reset();
}

}  // namespace rehearsal::coordination
