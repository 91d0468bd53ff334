#include "core/coordination/profile_shelf.hpp"

#include <utility>
#include <vector>

#include "core/coordination/log.hpp"
#include "core/profile/binary.hpp"

namespace rehearsal::coordination {

Result<std::optional<std::string>> ProfileShelf::add(const std::string& name,
                                                     const protocol::Part& part) {
  auto upload = uploads_.find(name);
  if (upload == uploads_.end()) {
    if (part.offset != 0) return std::nullopt;  // the rest of one that failed
    RETURN_IF_ERROR(begin(name, part));
    upload =
        uploads_
            .emplace(name, protocol::PartAssembler(part.size, "profile '" + one_line(name) + "'"))
            .first;
  }
  const Result<bool> whole = upload->second.add(part);
  if (whole && !*whole) return std::nullopt;
  std::string bytes = whole ? upload->second.take() : std::string();
  uploads_.erase(upload);
  const Result<std::string> identity =
      whole ? keep(name, std::move(bytes)) : Failure{whole.error()};
  if (!identity) {
    sizes_.erase(name);
    profiles_.erase(name);
    return Failure{identity.error()};
  }
  return *identity;
}

Result<void> ProfileShelf::begin(const std::string& name, const protocol::Part& part) {
  std::uint64_t others = 0;
  for (const auto& [other, size] : sizes_) others += other == name ? 0 : size;
  if (part.size > limits_.bytes_max || others > limits_.bytes_max - part.size) {
    return fail(ErrorCode::too_large, ErrorSource::control,
                "profile '" + one_line(name) + "': with it this session's profiles have " +
                    std::to_string(others) + " + " + std::to_string(part.size) +
                    " bytes; the cap is " + std::to_string(limits_.bytes_max));
  }
  if (!sizes_.contains(name) && sizes_.size() >= limits_.profiles_max) {
    return fail(ErrorCode::too_large, ErrorSource::control,
                "profile '" + one_line(name) + "': a session keeps at most " +
                    std::to_string(limits_.profiles_max) + " profiles");
  }
  sizes_[name] = part.size;
  return {};
}

Result<std::string> ProfileShelf::keep(const std::string& name, std::string bytes) {
  const std::string what = "profile '" + one_line(name) + "'";
  Result<profile::Profile> profile = profile::from_binary(bytes);
  if (!profile) return Failure{profile.error().within(what)};
  const std::vector<std::string> wrong = profile::problems(*profile);
  if (!wrong.empty()) {
    const std::string more =
        wrong.size() > 1 ? " (and " + std::to_string(wrong.size() - 1) + " more)" : "";
    return invalid(what + ": " + wrong.front() + more);
  }
  std::string identity = profile::identity(*profile);
  profiles_[name] = std::make_shared<const profile::Profile>(std::move(*profile));
  return identity;
}

}  // namespace rehearsal::coordination
