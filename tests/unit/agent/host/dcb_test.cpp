#include "agent/host/dcb.hpp"

#include <gmock/gmock.h>
#include <linux/dcbnl.h>
#include <linux/netlink.h>

#include <cstring>

namespace rehearsal::agent {
namespace {

std::string attribute(std::uint16_t type, const std::string& payload) {
  nlattr head{.nla_len = static_cast<std::uint16_t>(sizeof(nlattr) + payload.size()),
              .nla_type = type};
  std::string bytes(sizeof head, '\0');
  std::memcpy(bytes.data(), &head, sizeof head);
  bytes += payload;
  bytes.resize((bytes.size() + 3) / 4 * 4);
  return bytes;
}

template <typename Value>
std::string bytes_of(const Value& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string app(std::uint8_t selector, std::uint8_t priority, std::uint16_t protocol) {
  return attribute(
      DCB_ATTR_IEEE_APP,
      bytes_of(dcb_app{.selector = selector, .priority = priority, .protocol = protocol}));
}

std::string answer() {
  ieee_pfc pfc{};
  pfc.pfc_cap = 8;
  pfc.pfc_en = 0b0001'1000;
  const std::string table = app(IEEE_8021QAZ_APP_SEL_DSCP, 3, 26) +
                            app(IEEE_8021QAZ_APP_SEL_ETHERTYPE, 3, 0x8915) +
                            app(IEEE_8021QAZ_APP_SEL_DSCP, 6, 48);
  return bytes_of(dcbmsg{}) + attribute(DCB_ATTR_IFNAME, "eth2") +
         attribute(DCB_ATTR_IEEE, attribute(DCB_ATTR_IEEE_PFC, bytes_of(pfc)) +
                                      attribute(DCB_ATTR_IEEE_APP_TABLE, table));
}

TEST(Dcb, ReadsFlowControlAndDscpOfTheKernelsAnswer) {
  const auto settings = parse_dcb_answer(answer());
  ASSERT_TRUE(settings) << settings.error().text();
  EXPECT_EQ(priorities_text(settings->flow_control), "priorities 3,4");
  EXPECT_EQ(dscp_text(*settings), "26:3, 48:6");
  EXPECT_EQ(priorities_text(0), "");
  EXPECT_EQ(dscp_text({}), "");
}

TEST(Dcb, NothingThatIsCutOffIsReadBeyondItsEnd) {
  const std::string whole = answer();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // On the heap, so that a read beyond the end is seen by sanitizers.
    const std::vector<char> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    [[maybe_unused]] const auto settings = parse_dcb_answer({part.data(), part.size()});
  }
  EXPECT_FALSE(parse_dcb_answer("abc"));
  std::string damaged = whole;
  damaged[sizeof(dcbmsg)] = 1;  // an attribute shorter than its head
  EXPECT_FALSE(parse_dcb_answer(damaged));
}

TEST(Dcb, AnInterfaceWithoutDcbOrWithoutBeingSaysSo) {
  EXPECT_FALSE(read_dcb("lo"));
  EXPECT_FALSE(read_dcb("no-such-nic"));
  EXPECT_FALSE(read_dcb("a-name-longer-than-any"));
}

}  // namespace
}  // namespace rehearsal::agent
