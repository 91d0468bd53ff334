#pragma once

#include <filesystem>

#include "agent/keeper/server_policy.hpp"
#include "core/fault/host_policy.hpp"

namespace rehearsal::agent {

/// What a host lets others do to its kernel's network.
class HelperPolicy final : public ServerPolicy {
 public:
  explicit HelperPolicy(std::filesystem::path path) : path_(std::move(path)) {}

  Result<void> check() override;
  bool allows_test_stops() override { return policy_or_none().test_stops; }
  bool may_connect(uid_t uid) override;
  fault::WelcomeReply welcome(fault::FaultKeeper& keeper) override;
  Result<std::uint64_t> apply(fault::FaultKeeper& keeper, fault::OwnerId owner,
                              const fault::FaultRequest& request, Instant now) override;

 private:
  Result<fault::HostPolicy> read() const;
  fault::HostPolicy policy_or_none() const { return read().value_or(fault::HostPolicy{}); }

  std::filesystem::path path_;
};

}  // namespace rehearsal::agent
