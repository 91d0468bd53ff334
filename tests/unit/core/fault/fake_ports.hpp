#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/fault/keeper.hpp"
#include "core/fault/ports.hpp"

namespace rehearsal::fault {

/// The end of a helper at a step: thrown by tests, so that nothing after it happens.
struct Crash {};

/// A kernel with interfaces in memory; what is done to it stays when the keeper dies.
class FakeKernel final : public KernelPort {
 public:
  InterfaceState& add(const std::string& name) {
    const auto index = static_cast<std::uint32_t>(states_.size() + 2);
    InterfaceState state{
        .index = index, .name = name, .is_up = true, .mtu_bytes = 9000, .qdiscs = {}};
    state.qdiscs.push_back(default_root());
    state.flow_control = FlowControl{.heeds = true, .sends = true};
    table.links.push_back({.index = index, .name = name});
    return states_[index] = std::move(state);
  }
  Result<LinkTable> links() override { return table; }
  Result<InterfaceState> read(std::uint32_t index) override {
    const auto found = states_.find(index);
    if (found == states_.end())
      return fail(ErrorCode::not_found, ErrorSource::host, "no interface");
    return found->second;
  }
  Result<void> change(std::uint32_t index, const Act& act) override {
    if (refusal) return tl::unexpected(*refusal);
    ++changes;
    if (is_deaf) return {};
    apply_act(states_.at(index), act, "fake");
    return {};
  }

  InterfaceState& at(const std::string& name) {
    for (auto& [index, state] : states_) {
      if (state.name == name) return state;
    }
    return add(name);
  }
  void remove(const std::string& name) {
    std::erase_if(states_, [&](const auto& entry) { return entry.second.name == name; });
    std::erase_if(table.links, [&](const Link& link) { return link.name == name; });
  }
  std::map<std::uint32_t, InterfaceState> states() const { return states_; }

  LinkTable table;
  std::optional<Error> refusal;  ///< says no to every change
  bool is_deaf = false;          ///< says yes and does nothing
  int changes = 0;

 private:
  std::map<std::uint32_t, InterfaceState> states_;
};

/// A switch in memory, and commands that change it: what was done stays when the keeper dies.
class FakeCommands final : public CommandPort {
 public:
  Result<Finding> check(const ExternalCall& call) override {
    if (check_fails) return fail(ErrorCode::system, ErrorSource::host, "the switch is silent");
    const std::string key = describe(call);
    if (partial.contains(key) && partial_fails_check)
      return fail(ErrorCode::system, ErrorSource::host, "the switch is half way");
    if (partial.contains(key)) return Finding{Standing::foreign, "half way"};
    if (changed.contains(key)) return Finding{Standing::foreign, "somebody else's"};
    return Finding{done.contains(key) ? Standing::ours : Standing::untouched, {}};
  }
  Result<void> run(const RunCommand& act) override {
    runs.push_back(act);
    if (verbs_killed_half_way > 0) {
      --verbs_killed_half_way;
      done.erase(describe(act.call));
      partial.insert(describe(act.call));
      return fail(ErrorCode::timed_out, ErrorSource::host, "it was killed half way");
    }
    partial.erase(describe(act.call));
    if (act.verb == Verb::apply) done.insert(describe(act.call));
    if (act.verb == Verb::apply && apply_is_killed)
      return fail(ErrorCode::timed_out, ErrorSource::host, "it was killed at its limit");
    if (act.verb == Verb::undo && undo_fails)
      return fail(ErrorCode::system, ErrorSource::host, "undo ended with 1");
    if (act.verb == Verb::undo) done.erase(describe(act.call));
    return {};
  }
  int count(Verb verb) const {
    int found = 0;
    for (const RunCommand& run : runs) found += run.verb == verb ? 1 : 0;
    return found;
  }

  std::set<std::string> done;     ///< calls that are applied
  std::set<std::string> partial;  ///< calls that are neither, after a verb that was killed
  std::set<std::string> changed;  ///< calls whose check sees another's hand
  std::vector<RunCommand> runs;
  int verbs_killed_half_way = 0;     ///< so many of the next
  bool partial_fails_check = false;  ///< else its check says `changed`
  bool check_fails = false;
  bool apply_is_killed = false;  ///< after it did what it was to do
  bool undo_fails = false;
};

/// A file in memory, written in two halves, as the real one in tests.
class FakeJournal final : public JournalPort {
 public:
  Result<void> append(const JournalRecord& record) override {
    if (is_full) return fail(ErrorCode::system, ErrorSource::host, "no space left");
    const std::string whole = encode_record(record);
    bytes += whole.substr(0, whole.size() / 2);
    if (on_step) on_step(half_way(record));
    bytes += whole.substr(whole.size() / 2);
    return {};
  }
  Result<void> restart(std::span<const JournalRecord> records) override {
    if (is_full) return fail(ErrorCode::system, ErrorSource::host, "no space left");
    bytes = journal_header();
    for (const JournalRecord& record : records) bytes += encode_record(record);
    return {};
  }
  std::size_t size_bytes() const override { return bytes.size(); }

  std::string bytes;
  bool is_full = false;
  std::function<void(Step)> on_step;
};

}  // namespace rehearsal::fault
