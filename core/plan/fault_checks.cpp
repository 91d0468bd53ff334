// What can be seen to be wrong with a fault by itself.

#include <algorithm>

#include "core/base/text.hpp"
#include "core/fault/kernel_fault.hpp"
#include "core/plan/checks.hpp"

namespace rehearsal::plan {
namespace {

using fault::Kind;
using fault::Level;

constexpr std::uint32_t kMtuLeast = 1280;  // below it a host loses its IPv6 addresses (RFC 8200)
constexpr std::uint32_t kMtuMost = 65'535;

bool is_share(fault::Fraction fraction) {
  return fraction.millionths > 0 && fraction <= fault::kWhole;
}

std::optional<Wrong> check_share(std::string_view key, fault::Fraction share) {
  if (is_share(share)) return std::nullopt;
  return Wrong{key, "is " + fault::format_fraction(share), "expected above 0% up to 100%"};
}

std::optional<Wrong> check_time(std::string_view key, Duration time, Duration most) {
  if (time > Duration::zero() && time <= most) return std::nullopt;
  return Wrong{key, "is " + format_duration_exact(time),
               "expected above 0s up to " + format_duration_exact(most)};
}

// Nothing said goes as fast as it goes; a share or a rate.
std::optional<Wrong> check_traffic_level(const fault::What& what, const Level& level) {
  const bool rate = level.traffic.bits_per_second() != 0;
  const bool share = level.rate.millionths != 0;
  if (rate && share) return Wrong{"rate", "is a rate and a share", "one of them"};
  if (share) return check_share("rate", level.rate);
  if (!rate && what.levels.size() > 1)
    return Wrong{"rate", "has a level without a rate", "a share or a rate for each"};
  return std::nullopt;
}

std::optional<Wrong> check_traffic(const fault::What& what) {
  if (what.message.count() == 0 || what.message > kChunkMax)
    return Wrong{"message", "is " + format_bytes_exact(what.message),
                 "expected above 0B up to " + format_bytes_exact(kChunkMax)};
  if (what.credits == 0 || what.credits > kCreditsMax)
    return Wrong{"credits", "is " + std::to_string(what.credits),
                 "expected 1 to " + std::to_string(kCreditsMax)};
  return std::nullopt;
}

std::optional<Wrong> check_level(const fault::What& what, const Level& level) {
  switch (what.kind) {
    case Kind::rate:
      return check_share("to", level.rate);
    case Kind::delay:
      return check_time("by", level.delay, fault::kDelayMax);
    case Kind::reorder:
      if (auto wrong = check_time("by", level.delay, fault::kDelayMost)) return wrong;
      return check_share("share", level.share);
    case Kind::loss:
    case Kind::duplicate:
    case Kind::corrupt:
      return check_share("share", level.share);
    case Kind::straggler:
      if (level.compute >= fault::kWhole && level.compute.millionths <= fault::Fraction::kMost)
        return std::nullopt;
      return Wrong{"compute",
                   "is " + fault::format_fraction(level.compute) + " of the planned time",
                   "expected 100% or more, like 150%"};
    case Kind::mtu:
      if (level.mtu >= kMtuLeast && level.mtu <= kMtuMost) return std::nullopt;
      return Wrong{
          "to", "is " + std::to_string(level.mtu) + "B",
          "expected " + std::to_string(kMtuLeast) + "B to " + std::to_string(kMtuMost) + "B"};
    case Kind::incast:
    case Kind::background:
      return check_traffic_level(what, level);
    case Kind::blackhole:
    case Kind::pause:
    case Kind::crash:
    case Kind::link_down:
    case Kind::flow_control:
    case Kind::external:
      return std::nullopt;
  }
  return std::nullopt;
}

bool has_levels(Kind kind) {
  return kind != Kind::blackhole && kind != Kind::pause && kind != Kind::crash &&
         kind != Kind::link_down && kind != Kind::external;
}

std::optional<Wrong> check_call(const fault::ExternalCall& call) {
  const auto sound = fault::check(call);
  if (sound) return std::nullopt;
  const std::string text = sound.error().message;
  const std::size_t right = std::min(text.rfind("; "), text.size());
  const bool of_command = call.arguments.empty() || !fault::is_command_name(call.command);
  return Wrong{of_command ? "command" : "arguments", text.substr(0, right),
               text.substr(std::min(right + 2, text.size()))};
}

/// Whole hosts: what a command does, and where, is for its arguments to say.
std::optional<Wrong> check_external(const fault::Fault& fault) {
  const fault::Where& where = fault.where;
  const bool is_narrowed = !where.ranks.empty() || !where.communicator.empty() ||
                           !where.nics.empty() || where.rail || !where.peers.empty() ||
                           where.side != fault::Side::both;
  if (is_narrowed)
    return Wrong{"where", "is of more than hosts, but a command is run by hosts",
                 "hosts: who runs it; what it changes is for its arguments to say"};
  if (!fault.mechanism || *fault.mechanism == fault::Mechanism::external) return std::nullopt;
  return Wrong{"mechanism", "a command is run by rehearsal-external", "external, or leave it out"};
}

std::optional<Wrong> check_names(std::string_view key, const std::vector<std::string>& names,
                                 std::size_t most) {
  if (names.size() > most)
    return Wrong{key, std::to_string(names.size()) + " are listed",
                 "at most " + std::to_string(most)};
  for (const std::string& name : names)
    if (!is_name(name)) return Wrong{key, in_quotes(name) + " is no name", std::string(kNameRule)};
  return std::nullopt;
}

}  // namespace

std::optional<Wrong> check(const fault::What& what) {
  const std::size_t most = has_levels(what.kind) ? fault::kLevelsMax : 1;
  if (what.levels.empty() || what.levels.size() > most)
    return Wrong{"kind", std::to_string(what.levels.size()) + " levels",
                 "expected 1 to " + std::to_string(most)};
  for (const Level& level : what.levels)
    if (auto wrong = check_level(what, level)) return wrong;
  if (what.jitter < Duration::zero() || what.jitter > fault::kDelayMax)
    return Wrong{"jitter", "is " + format_duration_exact(what.jitter),
                 "expected up to " + format_duration_exact(fault::kDelayMax)};
  // By the kernel it has none, see the fault as a whole.
  if (what.kind == Kind::loss && what.retransmission != Duration::zero())
    return check_time("retransmission", what.retransmission, fault::kDelayMax);
  if (fault::makes_traffic(what.kind)) return check_traffic(what);
  if (what.kind == Kind::external) return check_call(what.call);
  return std::nullopt;
}

std::optional<Wrong> check(const fault::Where& where) {
  if (auto wrong = check_names("hosts", where.hosts, kHostsMax)) return wrong;
  if (auto wrong = check_names("peers", where.peers, kHostsMax)) return wrong;
  if (auto wrong = check_names("nics", where.nics, kNicsMax)) return wrong;
  const bool shared = where.share.millionths != 0;
  if (shared) {
    if (auto wrong = check_share("share", where.share)) return wrong;
    if (!where.hosts.empty() || !where.ranks.empty() || !where.communicator.empty())
      return Wrong{"share", "hosts are drawn and named",
                   "one of share, hosts, ranks, communicator"};
  }
  if (where.ranks.size() > kHostsMax)
    return Wrong{"ranks", std::to_string(where.ranks.size()) + " are listed",
                 "at most " + std::to_string(kHostsMax)};
  if (!where.nics.empty() && where.rail)
    return Wrong{"rail", "NICs are given by name and by rail", "one of nics and rail"};
  if (!shared && where.hosts.empty() && where.ranks.empty() && where.communicator.empty() &&
      where.job.empty())
    return Wrong{"hosts", "it is not said where", "one of hosts, share, ranks, communicator, job"};
  return std::nullopt;
}

std::optional<Wrong> check(const fault::When& when) {
  if (auto wrong = check_time("for", when.length, fault::kLengthMax)) return wrong;
  if (when.after < Duration::zero() || when.after > fault::kLengthMax)
    return Wrong{"after", "is " + format_duration_exact(when.after),
                 "expected up to " + format_duration_exact(fault::kLengthMax)};
  if (!when.phase.empty() && !when.iteration)
    return Wrong{"phase", "a phase of no iteration", "iteration: the one that it is a phase of"};
  const bool timed = when.on > Duration::zero() || when.off > Duration::zero();
  const bool counted = when.on_iterations != 0 || when.off_iterations != 0;
  if (timed && counted)
    return Wrong{"repeat", "by times and by iterations",
                 "on and off, or on_iterations and "
                 "off_iterations"};
  if (timed && (when.on <= Duration::zero() || when.off <= Duration::zero() ||
                when.on > fault::kLengthMax || when.off > fault::kLengthMax))
    return Wrong{"repeat", "needs a time on and a time off", "on: and off: above 0s"};
  if (counted && (when.on_iterations == 0 || when.off_iterations == 0))
    return Wrong{"repeat", "needs iterations on and off", "on_iterations: and off_iterations:"};
  return std::nullopt;
}

std::optional<Wrong> check(const fault::Fault& fault) {
  if (!is_name(fault.name))
    return Wrong{"name", in_quotes(fault.name) + " is no name", std::string(kNameRule)};
  const Kind kind = fault.what.kind;
  const std::string word(to_string(kind));
  const std::uint32_t levels = static_cast<std::uint32_t>(fault.what.levels.size());
  if (fault.when.iterations % std::max(levels, 1U) != 0)
    return Wrong{"when",
                 std::to_string(fault.when.iterations) + " iterations for " +
                     std::to_string(levels) + " levels",
                 "iterations: a multiple of " + std::to_string(levels)};
  if (fault::makes_traffic(kind) &&
      (!fault.where.ranks.empty() || !fault.where.communicator.empty()))
    return Wrong{"where", "is of ranks, but a flow of " + word + " is of hosts and NICs",
                 "hosts, and the job whose iterations count"};
  if (kind == Kind::incast && fault.where.side == fault::Side::sent)
    return Wrong{"where", "an incast is what a host receives",
                 "direction: received, or kind: background"};
  if (kind == Kind::external) return check_external(fault);
  const bool to_messages = fault::is_of_messages(kind) || fault::is_of_kernel(kind);
  if (!to_messages && !fault::makes_traffic(kind) &&
      (fault.where.side != fault::Side::both || !fault.where.peers.empty()))
    return Wrong{"where", "a " + word + " has no direction and no peers",
                 "leave direction and peers out"};
  if (kind == Kind::pause && (fault.when.iterations != 0 || fault.when.on_iterations != 0))
    return Wrong{"when", "iterations do not pass while a rank pauses", "for: how long it pauses"};
  if (kind == Kind::crash && fault.when.repeats())
    return Wrong{"when", "an agent crashes once", "leave repeat out"};
  if (fault.mechanism == fault::Mechanism::external)
    return Wrong{"mechanism", word + " is none of an operator's commands",
                 "kind: external, or another mechanism"};
  const bool by_kernel = fault.mechanism == fault::Mechanism::kernel;
  if (kind == Kind::loss && by_kernel != (fault.what.retransmission == Duration::zero()))
    return by_kernel ? Wrong{"what", "a retransmission where packets are truly lost",
                             "leave retransmission out: the transport sends again"}
                     : Wrong{"what", "a loss without a retransmission",
                             "retransmission: how long a lost message is held back"};
  if (fault.mechanism == fault::Mechanism::device && kind != Kind::rate)
    return Wrong{"mechanism", word + " is nothing that an RDMA device can do",
                 "leave it out; device is for rate alone"};
  if (fault.mechanism && *fault.mechanism == fault::Mechanism::sender && fault::is_of_kernel(kind))
    return Wrong{"mechanism", word + " is for the kernel alone", "kernel, or leave it out"};
  if (fault.mechanism && *fault.mechanism == fault::Mechanism::kernel && !to_messages)
    return Wrong{"mechanism", word + " is nothing that the kernel can do",
                 "sender, or leave it out"};
  return std::nullopt;
}

}  // namespace rehearsal::plan
