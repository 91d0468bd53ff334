#include "cli/faults_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/table.hpp"
#include "core/base/units.hpp"

namespace rehearsal::cli {
namespace {

using nlohmann::ordered_json;

std::string duration_text(std::uint64_t nanoseconds) {
  return format_duration(Duration{static_cast<Duration::rep>(nanoseconds)});
}

double seconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

std::string asked_by(const protocol::HostFault& fault) {
  return fault.run().empty() ? "–" : fault.fault() + " of " + fault.run();
}

/// "rate 25Gbit/s, sent": the interface has a column of its own.
std::string what_of(const protocol::HostFault& fault) {
  std::string what = fault.what();
  if (fault.external()) return what;
  const std::string on = " on " + fault.interface();
  if (const std::size_t at = what.find(on); at != std::string::npos) what.erase(at, on.size());
  return what;
}

/// What a host says beside its faults.
std::string remarks(const protocol::HostFaults& host) {
  std::string text;
  if (!host.no_answer().empty()) text += host.host() + ": " + host.no_answer() + "\n";
  for (const std::string& undone : host.undone()) text += host.host() + ": " + undone + "\n";
  for (const protocol::HostFault& fault : host.faults()) {
    if (!fault.problem().empty())
      text += host.host() + " " + (fault.external() ? fault.what() : fault.interface()) + ": " +
              fault.problem() + "\n";
  }
  if (host.left_out() > 0)
    text += host.host() + ": " + std::to_string(host.left_out()) +
            " faults that do not fit here: `rehearse faults list --host " + host.host() + "`\n";
  if (!host.blocked().empty()) text += host.host() + " takes no runs: " + host.blocked() + "\n";
  return text;
}

ordered_json fault_json(const protocol::HostFault& fault) {
  return {{"id", fault.id()},
          {"what", fault.what()},
          {"interface", text_or_null(fault.interface())},
          {"external", fault.external()},
          {"state", fault.state()},
          {"run", text_or_null(fault.run())},
          {"fault", text_or_null(fault.fault())},
          {"age_seconds", seconds(fault.age_ns())},
          {"lease_left_seconds", seconds(fault.lease_left_ns())},
          {"duration_left_seconds", seconds(fault.duration_left_ns())},
          {"problem", text_or_null(fault.problem())}};
}

}  // namespace

std::string faults_text(const protocol::FaultsReply& reply) {
  using enum Table::Align;
  Table table({{"host"},
               {"fault"},
               {"interface"},
               {"since", right},
               {"lease", right},
               {"left", right},
               {"state"},
               {"asked for by"}});
  std::string notes;
  for (const protocol::HostFaults& host : reply.hosts()) {
    for (const protocol::HostFault& fault : host.faults())
      table.add({host.host(), what_of(fault), fault.external() ? "–" : fault.interface(),
                 duration_text(fault.age_ns()), duration_text(fault.lease_left_ns()),
                 duration_text(fault.duration_left_ns()), fault.state(), asked_by(fault)});
    notes += remarks(host);
  }
  return (table.rows() == 0 ? "no fault is on\n" : table.text()) + notes;
}

std::string faults_json(const protocol::FaultsReply& reply) {
  ordered_json hosts = ordered_json::array();
  for (const protocol::HostFaults& host : reply.hosts()) {
    ordered_json json{{"host", host.host()},
                      {"helper", host.no_helper().empty() && host.no_answer().empty()},
                      {"no_answer", text_or_null(host.no_answer())},
                      {"blocked", text_or_null(host.blocked())},
                      {"faults", ordered_json::array()},
                      {"left_out", host.left_out()},
                      {"undone", ordered_json::array()}};
    for (const protocol::HostFault& fault : host.faults())
      json["faults"].push_back(fault_json(fault));
    for (const std::string& undone : host.undone()) json["undone"].push_back(undone);
    hosts.push_back(std::move(json));
  }
  const ordered_json json{{"schema_version", 1}, {"hosts", std::move(hosts)}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

ExitCode faults_exit_code(const protocol::FaultsReply& reply) {
  const auto any = [&](auto what) { return std::ranges::any_of(reply.hosts(), what); };
  const auto in_state = [&](const std::string& state) {
    return any([&](const protocol::HostFaults& host) {
      return std::ranges::any_of(host.faults(),
                                 [&](const auto& fault) { return fault.state() == state; });
    });
  };
  if (any([](const auto& host) { return !host.blocked().empty(); }) || in_state("stuck"))
    return ExitCode::fail;
  if (any([](const auto& host) { return !host.no_answer().empty(); })) return ExitCode::unknown;
  return in_state("conflict") ? ExitCode::warn : ExitCode::pass;
}

}  // namespace rehearsal::cli
