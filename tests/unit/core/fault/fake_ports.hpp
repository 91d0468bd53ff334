#pragma once

#include <map>
#include <optional>
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
