#include "tests/support/verbs/device_files.hpp"

#include <cstdio>
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

void write_infiniband_files(const fs::path& folder, std::uint32_t number,
                            std::uint64_t subnet_prefix) {
  const fs::path port = folder / ("fake" + std::to_string(number)) / "ports" / "1";
  std::ofstream(port / "link_layer") << "InfiniBand\n";
  char gid[64] = "";
  const auto group = [&](int shift) {
    return static_cast<unsigned>(subnet_prefix >> shift & 0xffff);
  };
  std::snprintf(gid, sizeof gid, "%04x:%04x:%04x:%04x:0000:0000:0000:%04x", group(48), group(32),
                group(16), group(0), number);
  std::ofstream(port / "gids" / "0") << gid << "\n";
  fs::remove(port / "gids" / "1");
  // The kernel lists neither types nor interfaces of these.
  for (const char* row : {"0", "1"}) {
    fs::remove(port / "gid_attrs" / "types" / row);
    fs::remove(port / "gid_attrs" / "ndevs" / row);
  }
}

}  // namespace rehearsal::test
