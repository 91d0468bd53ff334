#include "core/plan/plan_faults.hpp"

#include <algorithm>
#include <set>

#include "core/base/random.hpp"
#include "core/base/text.hpp"
#include "core/plan/external_faults.hpp"
#include "core/plan/kernel_faults.hpp"
#include "core/plan/traffic_faults.hpp"

namespace rehearsal::plan {
namespace {

using fault::Fault;
using fault::Kind;
using fault::Mechanism;
using fault::Place;
using fault::PlannedFault;

Failure wrong(ErrorCode code, const std::string& path, const std::string& what,
              const std::string& right) {
  return fail(code, ErrorSource::config, path + ": " + what + "; " + right);
}

std::string known_are(std::string_view written, std::vector<std::string_view> known) {
  const std::string_view meant = closest(written, known);
  const std::string hint = meant.empty() ? "" : "did you mean '" + std::string(meant) + "'? ";
  return hint + "known are " + joined(known);
}

// Finds `name` among things that have one; what it is for the message.
template <typename Things, typename Name>
Result<std::uint32_t> find_named(const Things& things, Name name_of, const std::string& name,
                                 const std::string& path, const std::string& one) {
  std::vector<std::string_view> known;
  for (const auto& thing : things) {
    known.push_back(name_of(thing));
    if (known.back() == name) return static_cast<std::uint32_t>(known.size() - 1);
  }
  return wrong(ErrorCode::not_found, path, one + " " + in_quotes(name) + " is not in this drill",
               known_are(name, std::move(known)));
}

class FaultPlanner {
 public:
  FaultPlanner(const Drill& drill, const Plan& plan, const Fault& fault, std::string path,
               std::uint64_t seed)
      : drill_(drill), plan_(plan), fault_(fault), path_(std::move(path)), random_(seed) {
    planned_ = {.name = fault.name, .what = fault.what, .when = fault.when};
    planned_.seed = random_.next();
  }

  Result<PlannedFault> make() {
    RETURN_IF_ERROR(find_job());
    RETURN_IF_ERROR(place_hosts());
    RETURN_IF_ERROR(narrow_to_nics());
    const bool traffic = fault::makes_traffic(fault_.what.kind);
    if (!traffic) RETURN_IF_ERROR(narrow_to_peers());
    for (Place& place : planned_.places) place.side = fault_.where.side;
    RETURN_IF_ERROR(check_seen());
    if (traffic) {
      ASSIGN_OR_RETURN(planned_.places, aim_traffic(plan_, fault_, planned_.places, path_));
    }
    RETURN_IF_ERROR(check_times());
    RETURN_IF_ERROR(find_phase());
    RETURN_IF_ERROR(pick_mechanism());
    return std::move(planned_);
  }

 private:
  Result<HostIndex> host(const std::string& name, const std::string& key) const {
    ASSIGN_OR_RETURN(const std::uint32_t index,
                     find_named(
                         plan_.hosts, [](const Inventory& i) { return std::string_view(i.host); },
                         name, path_ + key, "host"));
    return HostIndex{index};
  }

  Result<void> find_job() {
    if (!fault_.where.job.empty()) {
      ASSIGN_OR_RETURN(
          const std::uint32_t index,
          find_named(
              plan_.jobs, [](const PlannedJob& job) { return std::string_view(job.name); },
              fault_.where.job, path_ + ".where.job", "job"));
      planned_.job = job_ = JobIndex{index};
      return {};
    }
    const bool needs_one = !fault_.where.ranks.empty() || !fault_.where.communicator.empty() ||
                           !fault_.when.phase.empty();
    if (plan_.jobs.size() == 1) {
      job_ = JobIndex{0};
    } else if (needs_one) {
      return wrong(ErrorCode::invalid_input, path_ + ".where.job",
                   "ranks, communicators and phases are a job's, and the drill has several jobs",
                   "job: the one that is meant");
    }
    return {};
  }

  const PlannedJob& job() const { return plan_.jobs[job_->value]; }

  Result<void> place_hosts() {
    const fault::Where& where = fault_.where;
    if (!where.communicator.empty()) {
      ASSIGN_OR_RETURN(
          const std::uint32_t index,
          find_named(
              job().profile->communicators,
              [](const profile::Communicator& one) { return std::string_view(one.name); },
              where.communicator, path_ + ".where.communicator", "communicator"));
      communicator_ = CommunicatorIndex{index};
    }
    for (const std::string& name : where.hosts) {
      ASSIGN_OR_RETURN(const HostIndex index, host(name, ".where.hosts"));
      add({.host = index});
    }
    if (where.share.millionths != 0) draw_hosts();
    if (!where.ranks.empty()) return place_ranks();
    if (!planned_.places.empty()) return {};
    const auto& bindings = job().bindings;
    for (std::uint32_t rank = 0; rank < bindings.size(); ++rank) {
      if (communicator_ &&
          std::ranges::count(job().profile->communicators[communicator_->value].ranks,
                             Rank{rank}) == 0)
        continue;
      add({.host = bindings[rank].host});
    }
    return {};
  }

  Result<void> place_ranks() {
    const std::vector<Place> hosts = std::exchange(planned_.places, {});
    for (const std::uint32_t rank : fault_.where.ranks) {
      if (rank >= job().bindings.size())
        return wrong(ErrorCode::not_found, path_ + ".where.ranks",
                     "job " + in_quotes(job().name) + " has no rank " + std::to_string(rank),
                     "ranks are 0 to " + std::to_string(job().bindings.size() - 1));
      const HostIndex index = job().bindings[rank].host;
      if (!hosts.empty() && std::ranges::find(hosts, index, &Place::host) == hosts.end())
        return wrong(ErrorCode::invalid_input, path_ + ".where.ranks",
                     "rank " + std::to_string(rank) + " is not on one of the hosts",
                     "it is on " + plan_.hosts[index.value].host);
      add({.host = index, .job = job_, .rank = Rank{rank}});
    }
    return {};
  }

  // The first of a shuffle (Fisher, Yates) of the drill's hosts; at least one.
  void draw_hosts() {
    std::vector<std::uint32_t> hosts(plan_.hosts.size());
    for (std::uint32_t i = 0; i < hosts.size(); ++i) hosts[i] = i;
    const std::uint64_t scaled = hosts.size() * std::uint64_t{fault_.where.share.millionths};
    const std::size_t count = std::clamp<std::size_t>(
        (scaled + fault::Fraction::kWhole / 2) / fault::Fraction::kWhole, 1, hosts.size());
    for (std::size_t i = 0; i < count; ++i)
      std::swap(hosts[i], hosts[random_.between(i, hosts.size() - 1)]);
    hosts.resize(count);
    std::ranges::sort(hosts);
    for (const std::uint32_t index : hosts) add({.host = HostIndex{index}});
  }

  void add(Place place) {
    if (!fault_.where.job.empty()) place.job = job_;
    if (communicator_) {
      place.job = job_;
      place.communicator = communicator_;
    }
    if (std::ranges::find(planned_.places, place) == planned_.places.end())
      planned_.places.push_back(place);
  }

  Result<void> narrow_to_nics() {
    const fault::Where& where = fault_.where;
    if (where.nics.empty() && !where.rail) return {};
    const std::vector<Place> places = std::exchange(planned_.places, {});
    for (Place place : places) {
      const Inventory& inventory = plan_.hosts[place.host.value];
      if (where.rail) {
        if (*where.rail >= inventory.nics.size())
          return wrong(
              ErrorCode::not_found, path_ + ".where.rail",
              "host " + in_quotes(inventory.host) + " has no rail " + std::to_string(*where.rail),
              "it has " + std::to_string(inventory.nics.size()) + " data NICs, from 0");
        place.nic = NicIndex{*where.rail};
        planned_.places.push_back(place);
      }
      for (const std::string& name : where.nics) {
        ASSIGN_OR_RETURN(place.nic, nic(inventory, name));
        planned_.places.push_back(place);
      }
    }
    return {};
  }

  Result<NicIndex> nic(const Inventory& inventory, const std::string& name) const {
    std::vector<std::string_view> known;
    for (const Nic& one : inventory.nics) {
      if (one.name == name) return NicIndex{static_cast<std::uint32_t>(known.size())};
      known.push_back(one.name);
    }
    if (std::ranges::count(inventory.control_interfaces, name) != 0)
      return wrong(ErrorCode::refused, path_ + ".where.nics",
                   in_quotes(name) + " of host " + in_quotes(inventory.host) +
                       " carries its control connection or default route",
                   "one of its data NICs: " + joined(known));
    return wrong(ErrorCode::not_found, path_ + ".where.nics",
                 "host " + in_quotes(inventory.host) + " has no data NIC " + in_quotes(name),
                 known_are(name, std::move(known)));
  }

  Result<void> narrow_to_peers() {
    if (fault_.where.peers.empty()) return {};
    const std::vector<Place> places = std::exchange(planned_.places, {});
    for (Place place : places) {
      for (const std::string& name : fault_.where.peers) {
        ASSIGN_OR_RETURN(place.peer, host(name, ".where.peers"));
        planned_.places.push_back(place);
      }
    }
    return {};
  }

  // A fault where nobody is would be a drill that tests nothing.
  Result<void> check_seen() const {
    if (fault_.what.kind == Kind::crash) return {};
    const auto uses = [&](const Place& place) {
      for (std::uint32_t j = 0; j < plan_.jobs.size(); ++j) {
        if (place.job && place.job->value != j) continue;
        for (std::uint32_t rank = 0; rank < plan_.jobs[j].bindings.size(); ++rank) {
          const Binding& binding = plan_.jobs[j].bindings[rank];
          if (binding.host != place.host || (place.rank && place.rank->value != rank)) continue;
          // Where nodes are known, traffic may take another NIC of the host than its rank's.
          if (!place.nic || plan_.jobs[j].node || binding.nic == *place.nic) return true;
        }
      }
      return false;
    };
    for (const Place& place : planned_.places)
      if (!uses(place))
        return wrong(ErrorCode::invalid_input, path_ + ".where",
                     describe(plan_, place) + " is used by no rank of the drill",
                     "a place that the drill's jobs use");
    return {};
  }

  Result<void> check_times() const {
    const fault::When& when = fault_.when;
    if (when.iteration && *when.iteration >= drill_.iterations)
      return wrong(ErrorCode::invalid_input, path_ + ".when.iteration",
                   "is " + std::to_string(*when.iteration),
                   "the drill's iterations are 0 to " + std::to_string(drill_.iterations - 1));
    if (!when.iteration && when.after >= drill_.limits.duration)
      return wrong(ErrorCode::invalid_input, path_ + ".when.after",
                   "is " + format_duration_exact(when.after),
                   "less than limits.duration, " + format_duration_exact(drill_.limits.duration));
    Duration still{0};  // how long nothing may move because of it
    const Duration on = when.on > Duration::zero() ? std::min(when.on, when.length) : when.length;
    if (fault_.what.kind == Kind::blackhole || fault_.what.kind == Kind::pause ||
        fault_.what.kind == Kind::link_down)
      still = on;
    if (fault_.what.kind == Kind::loss) still = fault_.what.retransmission;
    for (const fault::Level& level : fault_.what.levels)
      still = std::max(still, level.delay + fault_.what.jitter);
    if (still >= drill_.limits.progress)
      return wrong(ErrorCode::invalid_input, path_ + ".when.for",
                   "nothing may move for " + format_duration_exact(still),
                   "less than limits.progress, " + format_duration_exact(drill_.limits.progress) +
                       ", after which the run would be given up");
    return {};
  }

  Result<void> find_phase() {
    if (fault_.when.phase.empty()) return {};
    planned_.job = job_;
    ASSIGN_OR_RETURN(
        planned_.phase,
        find_named(
            job().profile->phases, [](const std::string& name) { return std::string_view(name); },
            fault_.when.phase, path_ + ".when.phase", "phase"));
    return {};
  }

  Result<void> pick_mechanism() {
    const Kind kind = fault_.what.kind;
    if (kind == Kind::external) return check_commands();
    if (plan_.transport.kind == TransportKind::loopback && !fault::is_of_compute(kind) &&
        kind != Kind::crash)
      return wrong(ErrorCode::unsupported, path_ + ".what.kind",
                   "with transport loopback nothing passes a NIC", "transport tcp, or a straggler");
    planned_.mechanism = fault_.mechanism.value_or(fault::is_of_kernel(kind) ? Mechanism::kernel
                                                                             : Mechanism::sender);
    if (planned_.mechanism == Mechanism::kernel) return check_kernel();
    if (kind == Kind::rate) return check_rates();
    if (fault::makes_traffic(kind)) return check_pace(plan_, planned_, path_);
    return {};
  }

  /// Once on each host: what it changes is for its arguments to say.
  Result<void> check_commands() {
    planned_.mechanism = Mechanism::external;
    for (const Place& place : planned_.places) {
      const Inventory& host = plan_.hosts[place.host.value];
      if (const auto refusal = host_refuses_command(host, planned_))
        return wrong(refusal->code, path_ + "." + refusal->key, refusal->what, refusal->right);
      if (const auto* command = host.external.find(fault_.what.call.command))
        planned_.what.command_time = std::max(planned_.what.command_time, command->time_max);
    }
    return {};
  }

  /// On each NIC by itself: the kernel knows interfaces.
  Result<void> check_kernel() {
    if (fault_.what.kind == Kind::rate) RETURN_IF_ERROR(check_rates());
    const std::vector<Place> places = std::exchange(planned_.places, {});
    for (Place place : places) {
      for (const std::uint32_t nic : nics_used(place)) {
        place.nic = NicIndex{nic};
        planned_.places.push_back(place);
        auto refusal = kernel_cannot(plan_, planned_, place);
        if (!refusal) refusal = host_refuses(plan_.hosts[place.host.value], planned_, place);
        if (refusal)
          return wrong(refusal->code, path_ + "." + refusal->key, refusal->what, refusal->right);
      }
    }
    return {};
  }

  /// That of the place, or those that the drill's ranks use there.
  std::vector<std::uint32_t> nics_used(const Place& place) const {
    if (place.nic) return {place.nic->value};
    const auto count = static_cast<std::uint32_t>(plan_.hosts[place.host.value].nics.size());
    std::vector<std::uint32_t> used;
    for (std::uint32_t nic = 0; nic < count; ++nic) {
      const bool is_used = std::ranges::any_of(plan_.jobs, [&](const PlannedJob& job) {
        return std::ranges::any_of(job.bindings, [&](const Binding& binding) {
          // Where nodes are known, traffic may take another NIC of the host than its rank's.
          return binding.host == place.host && (job.node || binding.nic.value == nic);
        });
      });
      if (is_used) used.push_back(nic);
    }
    return used;
  }

  Result<void> check_rates() const {
    if (fault_.what.of.bits_per_second() != 0) return {};
    for (const Place& place : planned_.places) {
      const Inventory& host = plan_.hosts[place.host.value];
      for (std::uint32_t i = 0; i < host.nics.size(); ++i) {
        if (place.nic && place.nic->value != i) continue;
        if (host.nics[i].line_rate.bits_per_second() != 0) continue;
        return wrong(ErrorCode::invalid_input, path_ + ".what.of",
                     "the line rate of " + host.nics[i].name + " on host " + in_quotes(host.host) +
                         " is not known",
                     "of: the rate that the levels are parts of, like 100Gbit/s");
      }
    }
    return {};
  }

  const Drill& drill_;
  const Plan& plan_;
  const Fault& fault_;
  std::string path_;
  Random random_;
  std::optional<JobIndex> job_;
  std::optional<CommunicatorIndex> communicator_;
  PlannedFault planned_;
};

template <typename Value>
bool may_meet(const std::optional<Value>& a, const std::optional<Value>& b) {
  return !a || !b || *a == *b;
}

bool same_target(const PlannedFault& a, const PlannedFault& b, const Place& x, const Place& y) {
  if (a.what.kind == Kind::external || b.what.kind == Kind::external)
    return a.what.kind == b.what.kind && x.host == y.host && a.what.call == b.what.call;
  const bool traffic = fault::makes_traffic(a.what.kind);
  if (traffic != fault::makes_traffic(b.what.kind)) return false;
  const bool computes = fault::is_of_compute(a.what.kind);
  if (computes != fault::is_of_compute(b.what.kind)) return false;
  if ((a.what.kind == Kind::crash) != (b.what.kind == Kind::crash)) return false;
  const bool sides = x.side == y.side || x.side == fault::Side::both || y.side == fault::Side::both;
  return x.host == y.host && sides && may_meet(x.nic, y.nic) && may_meet(x.job, y.job) &&
         may_meet(x.rank, y.rank) && may_meet(x.communicator, y.communicator) &&
         may_meet(x.peer, y.peer);
}

// Whether both could be on at once: not, if their times or their iterations lie apart.
bool same_time(const fault::When& a, const fault::When& b) {
  if (!a.iteration && !b.iteration)
    return a.after < b.after + b.length && b.after < a.after + a.length;
  if (!a.iteration || !b.iteration) return true;
  const auto before = [](const fault::When& first, const fault::When& second) {
    return first.iterations != 0 &&
           std::uint64_t{*first.iteration} + first.iterations <= *second.iteration;
  };
  return !before(a, b) && !before(b, a);
}

Result<void> check_overlap(const std::vector<PlannedFault>& faults, const Plan& plan) {
  const PlannedFault& last = faults.back();
  const std::string path = "faults[" + std::to_string(faults.size() - 1) + "]";
  for (std::size_t i = 0; i + 1 < faults.size(); ++i) {
    if (!same_time(faults[i].when, last.when)) continue;
    for (const Place& x : faults[i].places)
      for (const Place& y : last.places)
        if (same_target(faults[i], last, x, y))
          return wrong(ErrorCode::refused, path,
                       in_quotes(last.name) + " and " + in_quotes(faults[i].name) +
                           " could both be on at " + describe(plan, y),
                       "faults of one target one after the other, by iterations or by times");
  }
  return {};
}

}  // namespace

Result<std::vector<PlannedFault>> plan_faults(const Drill& drill, const Plan& plan) {
  std::vector<PlannedFault> faults;
  Random seeds(drill.seed);
  for (std::size_t i = 0; i < drill.faults.size(); ++i) {
    FaultPlanner planner(drill, plan, drill.faults[i], "faults[" + std::to_string(i) + "]",
                         seeds.next());
    ASSIGN_OR_RETURN(faults.emplace_back(), planner.make());
    RETURN_IF_ERROR(check_overlap(faults, plan));
  }
  return faults;
}

std::string describe(const Plan& plan, const Place& place) {
  const Inventory& host = plan.hosts[place.host.value];
  std::string text = host.host;
  if (place.nic) text += " " + host.nics[place.nic->value].name;
  if (place.side != fault::Side::both) text += ", " + std::string(to_string(place.side));
  if (place.peer) text += ", with " + plan.hosts[place.peer->value].host;
  if (place.rank) text += ", rank " + std::to_string(place.rank->value);
  if (place.job) {
    const PlannedJob& job = plan.jobs[place.job->value];
    if (place.communicator)
      text += ", communicator " + job.profile->communicators[place.communicator->value].name;
    text += " of job " + job.name;
  }
  return text;
}

}  // namespace rehearsal::plan
