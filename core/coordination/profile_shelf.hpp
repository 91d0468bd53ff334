#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/base/result.hpp"
#include "core/profile/profile.hpp"
#include "core/protocol/parts.hpp"

namespace rehearsal::coordination {

using Profiles = std::map<std::string, std::shared_ptr<const profile::Profile>>;

/// The profiles of one operator's session, under the names that its drills use. Profiles come in
/// parts, in their binary form; they are checked when whole.
class ProfileShelf {
 public:
  struct Limits {
    std::size_t profiles_max = 0;
    std::uint64_t bytes_max = 0;  ///< of all uploads together
  };
  explicit ProfileShelf(Limits limits) : limits_(limits) {}

  /// Takes a part; gives the profile's identity once it is whole and good. After a failure further
  /// parts of that upload are passed over, until one begins anew at offset 0.
  Result<std::optional<std::string>> add(const std::string& name, const protocol::Part& part);

  const Profiles& profiles() const { return profiles_; }

 private:
  Result<void> begin(const std::string& name, const protocol::Part& part);
  Result<std::string> keep(const std::string& name, std::string bytes);

  Limits limits_;
  Profiles profiles_;
  std::map<std::string, protocol::PartAssembler> uploads_;
  std::map<std::string, std::uint64_t> sizes_;  // announced, of uploads and of kept ones
};

}  // namespace rehearsal::coordination
