#include "agent/transport/rdma/address.hpp"

#include <gmock/gmock.h>

#include "core/base/random.hpp"

namespace rehearsal::rdma {
namespace {

PeerAddress sample() {
  return {.gid = parse_gid("10.0.0.7").value(),
          .lid = 5,
          .path_mtu = 4096,
          .connection = 12,
          .greeter = 17,
          .greeter_key = 0x1ee7,
          .packet_sequence = 0xabcdef,
          .queue_pairs = {18, 19},
          .memory = 0x7f0012345678,
          .stride = 1 << 20,
          .remote_key = 0xfedc,
          .slots = 8,
          .ece = Ece{.vendor = 0x15b3, .options = 0x30000002, .mask = 1}};
}

TEST(RdmaAddressTest, ReadsWhatItWrote) {
  EXPECT_EQ(decode_address(encode(sample())).value(), sample());
}

TEST(RdmaAddressTest, WhatIsCutOffOrOfAnotherTransportIsRefused) {
  const std::string bytes = encode(sample());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_address(bytes.substr(0, size))) << size;
  EXPECT_FALSE(decode_address(bytes + "x"));
  const auto tcp = decode_address("127.0.0.1:4711");
  ASSERT_FALSE(tcp);
  EXPECT_EQ(tcp.error().code, ErrorCode::protocol);
}

TEST(RdmaAddressTest, DamageIsAnErrorOrAnotherAddressButNeverACrash) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = encode(sample());
    bytes[random.below(bytes.size())] = static_cast<char>(random.next());
    const auto address = decode_address(bytes);
    if (!address) continue;
    EXPECT_LE(address->queue_pairs.size(), 64U);
  }
}

TEST(RdmaAddressTest, AGidIsWrittenAsTheAddressItIsMadeOf) {
  const auto mapped = parse_gid("0000:0000:0000:0000:0000:ffff:0a00:0001");
  ASSERT_TRUE(mapped);
  EXPECT_EQ(gid_text(*mapped), "10.0.0.1");
  EXPECT_EQ(parse_gid("10.0.0.1").value(), *mapped);
  EXPECT_EQ(gid_text(parse_gid("fe80:0000:0000:0000:0000:00ff:fe00:0001").value()),
            "fe80::ff:fe00:1");
  EXPECT_FALSE(parse_gid("no gid"));
}

}  // namespace
}  // namespace rehearsal::rdma
