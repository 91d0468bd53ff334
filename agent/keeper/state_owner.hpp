#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

#include "core/base/result.hpp"

namespace rehearsal::agent {

/// Whose a folder is.
struct StateOwner {
  uid_t user = 0;
  gid_t group = 0;
};

/// The folder's owner where this process is root and the owner is not; none otherwise, also where
/// there is no such folder.
std::optional<StateOwner> other_owner(const std::filesystem::path& folder);

/// Root acts as the owner, and can go back.
Result<void> act_as(const StateOwner& owner);
Result<void> act_as_root();

/// From acting as the owner to being the owner, for good.
Result<void> become(const StateOwner& owner);

}  // namespace rehearsal::agent
