#include "agent/fault/local_address.hpp"

#include <sys/socket.h>

#include <cstring>
#include <string>

namespace rehearsal::agent {

Result<sockaddr_un> local_address(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = path.string();
  if (text.empty() || text.size() >= sizeof address.sun_path) {
    return invalid("'" + text + "' cannot be the path of a socket");
  }
  std::memcpy(address.sun_path, text.data(), text.size());
  return address;
}

}  // namespace rehearsal::agent
