#include "core/simulation/simulated_helper.hpp"

namespace rehearsal::simulation {

using namespace fault;

void SimulatedHost::add_interface(const std::string& name) {
  const auto index = static_cast<std::uint32_t>(interfaces_.size() + 2);
  interfaces_[index] = {
      .index = index, .name = name, .is_up = true, .mtu_bytes = 9000, .qdiscs = {default_root()}};
}

void SimulatedHost::put_foreign_root(const std::string& name) {
  for (auto& [index, state] : interfaces_) {
    if (state.name != name) continue;
    state.qdiscs = {
        {.kind = "htb", .handle = 0x5'0000, .parent = kRootParent, .options = {}, .settings = {}}};
  }
}

Result<LinkTable> SimulatedHost::links() {
  LinkTable table;
  for (const auto& [index, state] : interfaces_)
    table.links.push_back({.index = index, .name = state.name});
  return table;
}

Result<InterfaceState> SimulatedHost::read(std::uint32_t interface_index) {
  const auto found = interfaces_.find(interface_index);
  if (found == interfaces_.end())
    return fail(ErrorCode::not_found, ErrorSource::host, "no such interface");
  return found->second;
}

Result<void> SimulatedHost::change(std::uint32_t interface_index, const Act& act) {
  if (refuses_) return fail(ErrorCode::system, ErrorSource::host, "the kernel says no");
  apply_act(interfaces_.at(interface_index), act, "tbf");
  return {};
}

Result<Finding> SimulatedHost::check(const ExternalCall& call) {
  return Finding{commands_on_.contains(describe(call)) ? Standing::ours : Standing::untouched, {}};
}

Result<void> SimulatedHost::run(const RunCommand& act) {
  if (refuses_) return fail(ErrorCode::system, ErrorSource::host, "the switch says no");
  if (act.verb == Verb::apply) commands_on_.insert(describe(act.call));
  if (act.verb == Verb::undo) commands_on_.erase(describe(act.call));
  return {};
}

Result<void> SimulatedHost::append(const JournalRecord& record) {
  journal_ += encode_record(record);
  return {};
}

Result<void> SimulatedHost::restart(std::span<const JournalRecord> records) {
  journal_ = journal_header();
  for (const JournalRecord& record : records) journal_ += encode_record(record);
  return {};
}

SimulatedHelper::SimulatedHelper(SimulatedHost& host, bool runs_commands, Instant now)
    : runs_commands_(runs_commands),
      keeper_(host, host,
              {.boot_id = "simulated",
               .wall_ns = [] { return std::uint64_t{1}; },
               .commands = runs_commands ? &host : nullptr}) {
  commands_.commands = {{.told = {.name = "cut",
                                  .arguments = {{"port", IntegerArgument{1, 48}}},
                                  .duration_max = std::chrono::minutes{10},
                                  .time_max = std::chrono::seconds{12},
                                  .problem = {}},
                         .executable = "/simulated/cut",
                         .limits = {}}};
  policy_.faults = {kFaultKinds.begin(), kFaultKinds.end()};
  policy_.duration_max = std::chrono::minutes{10};
  for (const auto& [index, state] : host.interfaces()) policy_.interfaces.push_back(state.name);
  keeper_.replay(host.journal(), now);
}

WelcomeReply SimulatedHelper::welcome() const {
  if (runs_commands_)
    return {.version = kHelperVersion,
            .faults = {},
            .interfaces = {},
            .protected_interfaces = {},
            .commands = {commands_.commands.front().told},
            .blocked = keeper_.blocked()};
  return {.version = kHelperVersion,
          .faults = policy_.faults,
          .interfaces = policy_.interfaces,
          .duration_max = policy_.duration_max,
          .protected_interfaces = {},
          .commands = {},
          .blocked = keeper_.blocked()};
}

HelperReply SimulatedHelper::answer(OwnerId owner, const HelperRequest& request, Instant now) {
  if (std::holds_alternative<HelloRequest>(request)) return welcome();
  if (const auto* apply = std::get_if<ApplyRequest>(&request)) {
    const auto id = runs_commands_ ? keeper_.apply(owner, apply->request, commands_, now)
                                   : keeper_.apply(owner, apply->request, policy_, now);
    if (!id) return RefusedReply{id.error().code, id.error().text()};
    return AppliedReply{*id};
  }
  if (const auto* renew = std::get_if<RenewRequest>(&request))
    return RenewedReply{keeper_.renew(owner, renew->id, renew->lease, now)};
  if (const auto* undo = std::get_if<UndoRequest>(&request)) {
    auto undone = keeper_.undo(undo->id, now);
    return UndoneReply{std::move(undone), keeper_.blocked()};
  }
  if (const auto* clear = std::get_if<ClearRequest>(&request)) {
    auto cleared = keeper_.clear(clear->accept_stuck, now);
    return UndoneReply{std::move(cleared), keeper_.blocked()};
  }
  return ListReply{listed(keeper_, now), keeper_.blocked()};
}

}  // namespace rehearsal::simulation
