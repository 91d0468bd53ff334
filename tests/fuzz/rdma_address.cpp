// An RDMA address as the control channel carries it: any bytes are refused or read as they were
// written. And a GID as the kernel and inventories spell it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/transport/rdma/address.hpp"
#include "core/base/check.hpp"

using namespace rehearsal;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto address = rdma::decode_address(bytes)) {
    const auto again = rdma::decode_address(rdma::encode(*address));
    CHECK(again && *again == *address, "an address is read as it was written");
  }
  if (const auto gid = rdma::parse_gid(bytes)) {
    const auto again = rdma::parse_gid(rdma::gid_text(*gid));
    CHECK(again && *again == *gid, "a GID is read as it was written");
  }
  return 0;
}
