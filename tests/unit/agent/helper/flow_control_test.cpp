#include "agent/helper/flow_control.hpp"

#include <gtest/gtest.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

namespace rehearsal::agent {
namespace {

constexpr std::uint16_t kFamily = 21;

TEST(FlowControl, WhatIsAskedForIsWhatTheKernelTakes) {
  const netlink::Message message =
      flow_control_message(kFamily, 7, {.negotiated = false, .heeds = true, .sends = false});
  EXPECT_EQ(message.type(), kFamily);
  // Each line: length and type, then the value, padded to four bytes. Little endian.
  const std::string wanted(
      "\x16\x01\x00\x00"                                  // PAUSE_SET, version 1
      "\x0c\x00\x01\x80\x08\x00\x01\x00\x07\x00\x00\x00"  // a header with interface 7
      "\x05\x00\x02\x00\x00\x00\x00\x00"                  // not negotiated
      "\x05\x00\x03\x00\x01\x00\x00\x00"                  // received frames are heeded
      "\x05\x00\x04\x00\x00\x00\x00\x00",                 // none is sent
      40);
  EXPECT_EQ(message.body(), wanted);
}

TEST(FlowControl, WhatIsSetIsWhatIsRead) {
  for (const bool heeds : {false, true}) {
    for (const bool sends : {false, true}) {
      const fault::FlowControl setting{.negotiated = true, .heeds = heeds, .sends = sends};
      EXPECT_EQ(read_flow_control(flow_control_message(kFamily, 7, setting).body()), setting);
    }
  }
}

TEST(FlowControl, AnAnswerThatDoesNotTellIsNoSetting) {
  const std::string whole(flow_control_message(kFamily, 7, {.heeds = true}).body());
  for (std::size_t size = 0; size + 3 < whole.size(); ++size) {
    EXPECT_FALSE(read_flow_control(whole.substr(0, size))) << size;
  }
}

}  // namespace
}  // namespace rehearsal::agent
