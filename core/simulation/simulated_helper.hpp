#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/fault/helper_messages.hpp"
#include "core/fault/keeper.hpp"

namespace rehearsal::simulation {

/// The kernel and the disk of a host in memory, and what its operator's commands change: what a
/// helper has done stays when it dies.
class SimulatedHost final : public fault::KernelPort,
                            public fault::CommandPort,
                            public fault::JournalPort {
 public:
  void add_interface(const std::string& name);
  const std::map<std::uint32_t, fault::InterfaceState>& interfaces() const { return interfaces_; }
  /// The calls of commands that are applied.
  const std::set<std::string>& commands_on() const { return commands_on_; }
  /// Says yes to no change any more; false: to all again.
  void refuse_changes(bool refuse) { refuses_ = refuse; }
  /// Somebody else puts a queueing discipline of their own on the interface.
  void put_foreign_root(const std::string& name);
  fault::Journal journal() const { return fault::read_journal(journal_); }

  Result<fault::LinkTable> links() override;
  Result<fault::InterfaceState> read(std::uint32_t interface_index) override;
  Result<void> change(std::uint32_t interface_index, const fault::Act& act) override;
  Result<fault::Finding> check(const fault::ExternalCall& call) override;
  Result<void> run(const fault::RunCommand& act) override;
  Result<void> append(const fault::JournalRecord& record) override;
  Result<void> restart(std::span<const fault::JournalRecord> records) override;
  std::size_t size_bytes() const override { return journal_.size(); }

 private:
  std::map<std::uint32_t, fault::InterfaceState> interfaces_;
  std::set<std::string> commands_on_;
  std::string journal_{fault::journal_header()};
  bool refuses_ = false;
};

/// A helper in virtual time: the production FaultKeeper over a simulated host. Its policy allows
/// all on the host's interfaces for ten minutes. Or the host's rehearsal-external, which allows the
/// command `cut` for as long, with a port from 1 to 48.
class SimulatedHelper {
 public:
  /// Replays the journal, as a helper that is started again does.
  SimulatedHelper(SimulatedHost& host, bool runs_commands, Instant now);

  fault::WelcomeReply welcome() const;
  fault::HelperReply answer(fault::OwnerId owner, const fault::HelperRequest& request, Instant now);
  void disconnected(fault::OwnerId owner, Instant now) { keeper_.disconnected(owner, now); }
  void tick(Instant now) { keeper_.on_time(now); }
  Instant next_due() const { return keeper_.next_due(); }

 private:
  const bool runs_commands_;
  fault::HostPolicy policy_;
  fault::ExternalPolicy commands_;
  fault::FaultKeeper keeper_;
};

}  // namespace rehearsal::simulation
