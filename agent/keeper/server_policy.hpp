#pragma once

#include <sys/types.h>

#include "core/base/result.hpp"
#include "core/fault/helper_messages.hpp"
#include "core/fault/keeper.hpp"

namespace rehearsal::agent {

/// What a program that keeps faults allows. Its file is read again for each call, so that a change
/// counts at once; one that cannot be used forbids all.
class ServerPolicy {
 public:
  virtual ~ServerPolicy() = default;

  /// Whether the file is in order.
  virtual Result<void> check() = 0;
  /// Whether the stops of tests are allowed.
  virtual bool allows_test_stops() = 0;
  virtual bool may_connect(uid_t uid) = 0;
  virtual fault::WelcomeReply welcome(fault::FaultKeeper& keeper) = 0;
  virtual Result<std::uint64_t> apply(fault::FaultKeeper& keeper, fault::OwnerId owner,
                                      const fault::FaultRequest& request, Instant now) = 0;
};

}  // namespace rehearsal::agent
