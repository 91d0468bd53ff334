#include "core/profile/read.hpp"

#include "core/profile/binary.hpp"
#include "core/profile/text.hpp"

namespace rehearsal::profile {

Result<Profile> read(std::string_view bytes, std::string file_name) {
  if (bytes.empty()) return invalid(file_name + ": it is empty; a profile is YAML text or binary");
  if (!is_binary(bytes)) return from_text(bytes, std::move(file_name));
  Result<Profile> profile = from_binary(bytes);
  if (!profile) return Failure{profile.error().within(std::move(file_name))};
  return profile;
}

Result<Profile> load_profile(std::string_view bytes, std::string file_name) {
  ASSIGN_OR_RETURN(Profile profile, read(bytes, file_name));
  if (const auto wrong = problems(profile); !wrong.empty()) {
    const std::size_t more = wrong.size() - 1;
    return invalid(file_name + ": " + wrong.front() +
                   (more == 0 ? "" : " (and " + std::to_string(more) + " more)"));
  }
  return profile;
}

}  // namespace rehearsal::profile
