#include "core/collective/choice.hpp"

#include <gtest/gtest.h>

#include <set>

namespace rehearsal::collective {
namespace {

TEST(Choice, EveryNameIsItsOwn) {
  std::set<std::string_view> names;
  for (const Algorithm algorithm : kAlgorithms) names.insert(to_string(algorithm));
  for (const Protocol protocol : kProtocols) names.insert(to_string(protocol));
  EXPECT_EQ(names.size(), std::size(kAlgorithms) + std::size(kProtocols));
}

TEST(Choice, ProtocolsAddTheirFlags) {
  EXPECT_EQ(wire_bytes(Protocol::simple, 12'345), 12'345U);
  EXPECT_EQ(wire_bytes(Protocol::ll, 32 << 10), 64U << 10) << "a step of LL";
  EXPECT_EQ(wire_bytes(Protocol::ll, 1), 16U);
  EXPECT_EQ(wire_bytes(Protocol::ll128, 576'000), 614'400U) << "a step of LL128";
  EXPECT_EQ(wire_bytes(Protocol::ll128, 1), 2048U) << "a warp writes whole lines";
  EXPECT_EQ(wire_bytes(Protocol::ll128, 1921), 4096U);
  for (const Protocol protocol : kProtocols) EXPECT_EQ(wire_bytes(protocol, 0), 0U);
}

}  // namespace
}  // namespace rehearsal::collective
