#pragma once

#include <filesystem>

#include "agent/keeper/server_policy.hpp"
#include "core/fault/external_policy.hpp"

namespace rehearsal::agent {

/// The host's policy of commands. Refused unless root alone can write it.
Result<fault::ExternalPolicy> read_external_policy_file(const std::filesystem::path& path);

/// Which commands a host lets others run.
class ExternalPolicyFile final : public ServerPolicy {
 public:
  explicit ExternalPolicyFile(std::filesystem::path path) : path_(std::move(path)) {}

  /// Also whether every program may be run.
  Result<void> check() override;
  bool allows_test_stops() override { return policy_or_none().test_stops; }
  bool may_connect(uid_t uid) override;
  fault::WelcomeReply welcome(fault::FaultKeeper& keeper) override;
  Result<std::uint64_t> apply(fault::FaultKeeper& keeper, fault::OwnerId owner,
                              const fault::FaultRequest& request, Instant now) override;

 private:
  fault::ExternalPolicy policy_or_none() const;

  std::filesystem::path path_;
};

}  // namespace rehearsal::agent
