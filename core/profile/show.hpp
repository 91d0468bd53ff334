#pragma once

#include <string>

#include "core/profile/profile.hpp"

namespace rehearsal::profile {

/// A valid profile as tables for people: ranks, communicators, the ops of each class (of the first
/// few where there are many), and per communicator the collectives with what each rank sends, to
/// check by hand.
std::string show(const Profile& profile);

/// The whole of a profile as JSON (docs/profile-format.md), sizes in bytes, times in nanoseconds.
std::string to_json(const Profile& profile);

}  // namespace rehearsal::profile
