#include "tests/support/verbs/device_files.hpp"

#include <fstream>

namespace rehearsal::test {

namespace fs = std::filesystem;

void write_device_files(const fs::path& folder, std::uint32_t number) {
  const fs::path port = folder / ("fake" + std::to_string(number)) / "ports" / "1";
  fs::create_directories(port / "gids");
  fs::create_directories(port / "gid_attrs" / "types");
  fs::create_directories(port / "gid_attrs" / "ndevs");
  std::ofstream(port / "state") << "4: ACTIVE\n";
  std::ofstream(port / "link_layer") << "Ethernet\n";
  std::ofstream(port / "rate") << "100 Gb/sec (4X EDR)\n";
  const std::string last = std::to_string(number);
  std::ofstream(port / "gids" / "0") << "fe80:0000:0000:0000:0000:00ff:fe00:000" << last << "\n";
  std::ofstream(port / "gids" / "1") << "0000:0000:0000:0000:0000:ffff:0a00:000" << last << "\n";
  for (const char* row : {"0", "1"}) {
    std::ofstream(port / "gid_attrs" / "types" / row) << "RoCE v2\n";
    std::ofstream(port / "gid_attrs" / "ndevs" / row) << "eth" << last << "\n";
  }
}

}  // namespace rehearsal::test
