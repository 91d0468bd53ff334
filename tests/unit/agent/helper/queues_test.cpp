#include "agent/helper/queues.hpp"

#include <gtest/gtest.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

namespace rehearsal::agent {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// What the kernel would be told, read as if the kernel told it back.
fault::QueueSettings there_and_back(const fault::QueueSettings& settings) {
  netlink::Message message(RTM_NEWQDISC, 0, tcmsg{});
  put_qdisc(message, settings, 9000);
  const auto attributes = netlink::attributes_of<tcmsg>(message.body());
  EXPECT_EQ(attributes.text(TCA_KIND), qdisc_kind(settings));
  return read_settings(attributes.text(TCA_KIND), attributes.bytes(TCA_OPTIONS).value_or(""));
}

TEST(Queues, WhatIsSetIsWhatIsRead) {
  const std::vector<fault::QueueSettings> all = {
      fault::RateCap{BitRate{100'000}},
      fault::RateCap{BitRate{25'000'000'000}},
      fault::RateCap{BitRate{400'000'000'000}},  // more than 32 bits of bytes
      fault::Impairment{.delay = milliseconds{20}, .jitter = microseconds{7}},
      fault::Impairment{.delay = std::chrono::seconds{10}, .reorder = {250'000}},
      fault::Impairment{.loss = {1}, .duplicate = {999'999}, .corrupt = {1'000'000}},
      fault::DropAll{}};
  for (const auto& settings : all) EXPECT_EQ(there_and_back(settings), settings);
}

TEST(Queues, ABurstHoldsAPacketAndAMillisecond) {
  netlink::Message message(RTM_NEWQDISC, 0, tcmsg{});
  put_qdisc(message, fault::RateCap{BitRate{80'000'000'000}}, 9000);
  const auto options =
      netlink::Attributes(netlink::attributes_of<tcmsg>(message.body()).bytes(TCA_OPTIONS).value());
  EXPECT_EQ(options.value<std::uint32_t>(TCA_TBF_BURST), 10'000'000U);
  EXPECT_EQ(options.value<tc_tbf_qopt>(TCA_TBF_PARMS)->buffer, 1'000'000U / 64);
  EXPECT_EQ(options.value<std::uint64_t>(TCA_TBF_RATE64), 10'000'000'000U);
}

TEST(Queues, OfOthersNothingIsRead) {
  EXPECT_EQ(read_settings("htb", "anything"), fault::QueueSettings{});
  EXPECT_EQ(read_settings("tbf", ""), fault::QueueSettings{});
  EXPECT_EQ(read_settings("netem", "short"), fault::QueueSettings{});
  const tc_fifo_qopt larger{.limit = 2};
  const std::string_view bytes(reinterpret_cast<const char*>(&larger), sizeof larger);
  EXPECT_EQ(read_settings("bfifo", bytes), fault::QueueSettings{});
}

TEST(Netlink, AMalformedRestIsLeftOut) {
  netlink::Message message(RTM_NEWLINK, 0, ifinfomsg{});
  message.put_value(IFLA_MTU, std::uint32_t{1500});
  message.put_text(IFLA_IFNAME, "eth1");
  const std::string_view body = message.body();
  for (std::size_t size = 0; size < body.size(); ++size) {
    const auto attributes = netlink::attributes_of<ifinfomsg>(body.substr(0, size));
    EXPECT_EQ(attributes.value<std::uint32_t>(IFLA_MTU).has_value(), size >= sizeof(ifinfomsg) + 8);
  }
  EXPECT_EQ(netlink::attributes_of<ifinfomsg>(body).text(IFLA_IFNAME), "eth1");
}

}  // namespace
}  // namespace rehearsal::agent
