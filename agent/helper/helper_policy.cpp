#include "agent/helper/helper_policy.hpp"

#include "agent/keeper/trusted_file.hpp"

namespace rehearsal::agent {

Result<fault::HostPolicy> HelperPolicy::read() const {
  ASSIGN_OR_RETURN(const std::string text, read_trusted_file(path_));
  return fault::read_host_policy(text, path_.string());
}

Result<void> HelperPolicy::check() {
  return read().map([](const fault::HostPolicy&) {});
}

bool HelperPolicy::may_connect(uid_t uid) {
  return agent::may_connect(policy_or_none().agent, uid);
}

fault::WelcomeReply HelperPolicy::welcome(fault::FaultKeeper& keeper) {
  const fault::HostPolicy policy = policy_or_none();
  return {.version = fault::kHelperVersion,
          .faults = policy.faults,
          .interfaces = policy.interfaces,
          .duration_max = policy.duration_max,
          .protected_interfaces = keeper.protected_names(policy),
          .commands = {},
          .blocked = keeper.blocked()};
}

Result<std::uint64_t> HelperPolicy::apply(fault::FaultKeeper& keeper, fault::OwnerId owner,
                                          const fault::FaultRequest& request, Instant now) {
  const auto policy = read();
  if (!policy) {
    return tl::unexpected(policy.error().within("without a policy no fault is allowed"));
  }
  return keeper.apply(owner, request, *policy, now);
}

}  // namespace rehearsal::agent
