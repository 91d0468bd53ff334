#include "core/coordination/messages.hpp"

#include <gtest/gtest.h>

#include "core/protocol/codec.hpp"
#include "core/protocol/frame.hpp"
#include "tests/support/sample_plan.hpp"

namespace rehearsal::coordination {
namespace {

using namespace std::chrono_literals;

TEST(Messages, AnInventoryComesBackAsItWas) {
  plan::Inventory inventory = test::sample_inventories(1).front();
  inventory.kernel = {.helper = true,
                      .faults = {fault::FaultKind::rate, fault::FaultKind::mtu},
                      .interfaces = {"data0"},
                      .duration_max = 90s};
  inventory.external = {
      .runner = true,
      .commands = {{.name = "port-down",
                    .arguments = {{"switch", fault::WordArgument{{"leaf1", "leaf2"}}},
                                  {"port", fault::IntegerArgument{-1, 48}},
                                  {"label", fault::NameArgument{8}}},
                    .duration_max = 60s,
                    .time_max = 12s,
                    .problem = "it is not there"}}};
  inventory.control_interfaces = {"eth0", "lo"};
  protocol::Inventory message;
  to_message(inventory, message);
  EXPECT_EQ(from_message(message), inventory);
}

TEST(Messages, AnOfferOfANewerAgentIsTakenAsFarAsItIsKnown) {
  protocol::KernelOffer message;
  message.set_helper(true);
  for (const char* kind : {"rate", "gravity"}) message.add_faults(kind);
  for (const char* name : {"eth1", "", "a-name-that-no-kernel-takes"}) message.add_interfaces(name);
  message.set_duration_max_ns(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(from_message(message), (fault::KernelOffer{.helper = true,
                                                       .faults = {fault::FaultKind::rate},
                                                       .interfaces = {"eth1"},
                                                       .duration_max = fault::kFaultDurationMost}));
}

TEST(Messages, CommandsThatCouldNotBeAnyAreLeftOut) {
  protocol::ExternalOffer message;
  message.set_runner(true);
  for (const char* name : {"cut", "rm -rf /", ""}) {
    protocol::ExternalCommand& command = *message.add_commands();
    command.set_name(name);
    command.set_time_max_ns(std::numeric_limits<std::uint64_t>::max());
    command.set_duration_max_ns(std::numeric_limits<std::uint64_t>::max());
    for (const char* argument : {"port", "$x"}) command.add_arguments()->set_name(argument);
    command.mutable_arguments(0)->add_one_of("a b");
    command.mutable_arguments(0)->add_one_of("ab");
  }
  const fault::ExternalOffer offer = from_message(message);
  ASSERT_EQ(offer.commands.size(), 1U);
  EXPECT_EQ(offer.commands[0].duration_max, fault::kFaultDurationMost);
  EXPECT_EQ(offer.commands[0].time_max, 60s);
  ASSERT_EQ(offer.commands[0].arguments.size(), 1U);
  EXPECT_EQ(offer.commands[0].arguments[0].type,
            (fault::ArgumentType{fault::WordArgument{{"ab"}}}));
}

TEST(Messages, ARangeOfNothingIsLeftOutAndAProblemIsCut) {
  protocol::ExternalOffer message;
  protocol::ExternalCommand& command = *message.add_commands();
  command.set_name("cut");
  command.set_problem(std::string(1000, 'x') + "\n");
  command.add_arguments()->set_name("port");
  command.mutable_arguments(0)->set_integer(true);
  command.mutable_arguments(0)->set_min(2);
  command.mutable_arguments(0)->set_max(1);
  const fault::ExternalOffer offer = from_message(message);
  ASSERT_EQ(offer.commands.size(), 1U);
  EXPECT_TRUE(offer.commands[0].arguments.empty());
  EXPECT_EQ(offer.commands[0].problem, std::string(200, 'x'));
}

TEST(Messages, ASummaryOfCommandsHasOnlyTheNamesOfArguments) {
  fault::WordArgument words;
  for (int i = 0; i < 256; ++i) words.one_of.push_back("leaf" + std::to_string(i));
  const fault::ExternalOffer offer{
      .runner = true,
      .commands = {
          {.name = "cut",
           .arguments = {{"switch", std::move(words)}, {"port", fault::IntegerArgument{1, 48}}},
           .duration_max = 1min,
           .time_max = 12s,
           .problem = "no"}}};
  protocol::ExternalOffer message;
  to_summary(offer, message);
  ASSERT_EQ(message.commands_size(), 1);
  EXPECT_TRUE(message.runner());
  EXPECT_EQ(message.commands(0).name(), "cut");
  EXPECT_EQ(message.commands(0).problem(), "no");
  EXPECT_EQ(message.commands(0).time_max_ns(), 12'000'000'000U);
  ASSERT_EQ(message.commands(0).arguments_size(), 2);
  EXPECT_EQ(message.commands(0).arguments(0).name(), "switch");
  EXPECT_LT(message.ByteSizeLong(), 64U);
}

TEST(Messages, AFindingComesBackAsItWas) {
  using Health = host::Finding::Health;
  for (const Health health : {Health::good, Health::notable, Health::bad}) {
    const host::Finding finding{health, "h1 eth2", "PFC is off", "turn it on"};
    protocol::HostFinding message;
    to_message(finding, message);
    EXPECT_EQ(from_message(message), finding);
  }
  protocol::HostFinding newer;
  newer.set_health("splendid");
  EXPECT_EQ(from_message(newer).health, Health::notable);
}

TEST(Messages, AnAddressComesBackAsItWas) {
  const KeyedAddress address{.key = {.job = JobIndex{1},
                                     .communicator = CommunicatorIndex{2},
                                     .source = Rank{3},
                                     .destination = Rank{4},
                                     .channel = 5,
                                     .use = plan::ConnectionUse::point_to_point},
                             .address = std::string("\0\xff", 2)};
  protocol::ConnectionAddress message;
  to_message(address, message);
  const auto back = from_message(message);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->key, address.key);
  EXPECT_EQ(back->address, address.address);
}

TEST(Messages, FieldsOutOfRangeAreNoAddress) {
  protocol::ConnectionAddress message;
  message.set_channel(1 << 16);
  EXPECT_FALSE(from_message(message));
  message.set_channel(0);
  message.set_use(static_cast<std::uint32_t>(plan::kConnectionUseLast) + 1);
  EXPECT_FALSE(from_message(message));
}

TEST(Messages, AnEstimateThatWouldOverflowIsNone) {
  protocol::ClockEstimate message;
  to_message(ClockOffset{.offset = -5s, .error_bound = 3us}, message);
  EXPECT_EQ(from_message(message)->offset, -5s);
  message.set_offset_ns(std::numeric_limits<std::int64_t>::min());
  EXPECT_FALSE(from_message(message));
  to_message(std::nullopt, message);
  EXPECT_FALSE(from_message(message));
}

TEST(Messages, ManyAddressesGoInMessagesThatFitFrames) {
  std::vector<KeyedAddress> addresses(100'000);
  for (std::uint32_t i = 0; i < addresses.size(); ++i) {
    addresses[i].key.source = Rank{i};
    addresses[i].address = std::string(64, 'a');
  }
  std::size_t count = 0;
  const std::vector<protocol::Envelope> messages = connect_messages("e1-r1", addresses);
  for (const protocol::Envelope& message : messages) {
    EXPECT_LE(protocol::encode(message).size(), protocol::kFrameBytesMax);
    EXPECT_EQ(message.connect().last(), &message == &messages.back());
    count += static_cast<std::size_t>(message.connect().addresses_size());
  }
  EXPECT_EQ(count, addresses.size());
  EXPECT_GT(messages.size(), 1u);
}

TEST(Messages, NoAddressesAreOneMessage) {
  const auto messages = prepared_messages("e1-r1", {});
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_TRUE(messages[0].prepared().last());
}

}  // namespace
}  // namespace rehearsal::coordination
