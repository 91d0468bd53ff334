#pragma once

#include <cstdint>
#include <filesystem>

namespace rehearsal::test {

/// Makes in `folder`, which stands for /sys/class/infiniband, what the kernel shows of the device
/// fake<number>: one active Ethernet port with the GIDs of a link-local address and of
/// 10.0.0.<number>.
void write_device_files(const std::filesystem::path& folder, std::uint32_t number);
/// Turns them into those of an InfiniBand port with one GID: the prefix, then ::<number>.
void write_infiniband_files(const std::filesystem::path& folder, std::uint32_t number,
                            std::uint64_t subnet_prefix);

}  // namespace rehearsal::test
