#include "core/fault/external_policy.hpp"

#include <gmock/gmock.h>

namespace rehearsal::fault {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::string_view kPolicy = R"(
agent: rehearsal-agent
commands:
  port-down:
    executable: /usr/local/lib/rehearsal/port-down
    arguments:
      switch: {type: one_of, words: [leaf1, leaf2]}
      port: {type: integer, min: 1, max: 48}
      label: {type: name, length_max: 8}
    limits: {check: 1s, apply: 5s, undo: 4s}
    duration_max: 5min
  drain:
    executable: /usr/local/lib/rehearsal/drain
    duration_max: 30s
)";

std::string problem(const std::string& text) {
  const auto policy = read_external_policy(text, "external-policy.yaml");
  return policy ? "" : policy.error().text();
}

/// A policy of one command with this in the place of its keys.
std::string with(const std::string& keys) { return problem("commands:\n  cut:\n" + keys); }

ExternalCall call(std::vector<ExternalArgument> arguments) {
  return {"port-down", std::move(arguments)};
}

TEST(ExternalPolicy, NamesProgramArgumentsAndLimits) {
  const auto policy = read_external_policy(kPolicy, "external-policy.yaml");
  ASSERT_TRUE(policy) << policy.error().text();
  EXPECT_EQ(policy->agent, "rehearsal-agent");
  ASSERT_EQ(policy->commands.size(), 2U);
  const AllowedCommand& command = policy->commands[0];
  EXPECT_EQ(command.executable, "/usr/local/lib/rehearsal/port-down");
  EXPECT_EQ(command.limits, (CommandLimits{.check = 1s, .apply = 5s, .undo = 4s}));
  EXPECT_EQ(command.told.duration_max, 5min);
  EXPECT_EQ(command.told.time_max, 13s);  // four looks, one apply, one undo
  ASSERT_EQ(command.told.arguments.size(), 3U);
  EXPECT_EQ(command.told.arguments[0].type, (ArgumentType{WordArgument{{"leaf1", "leaf2"}}}));
  EXPECT_EQ(command.told.arguments[1].type, (ArgumentType{IntegerArgument{1, 48}}));
  EXPECT_EQ(command.told.arguments[2].type, (ArgumentType{NameArgument{8}}));
  EXPECT_EQ(policy->commands[1].limits, CommandLimits{});
  EXPECT_FALSE(policy->test_stops);
}

TEST(ExternalPolicy, AllowsNothingByItself) {
  const auto policy = read_external_policy("agent: 7\n", "p");
  ASSERT_TRUE(policy);
  EXPECT_TRUE(policy->commands.empty());
}

TEST(ExternalPolicy, IsReadStrictly) {
  const std::string program = "    executable: /bin/true\n";
  const std::string longest = "    duration_max: 1min\n";
  EXPECT_EQ(with(program + longest), "");
  EXPECT_THAT(problem("comands: {}\n"), HasSubstr("external-policy.yaml:1"));
  EXPECT_THAT(problem("comands: {}\n"), HasSubstr("commands"));
  EXPECT_THAT(with(program), HasSubstr("duration_max"));
  EXPECT_THAT(with(longest), HasSubstr("executable"));
  EXPECT_THAT(with("    executable: bin/true\n" + longest), HasSubstr("absolute path"));
  EXPECT_THAT(with("    executable: /bin/true --now\n" + longest), HasSubstr("absolute path"));
  EXPECT_THAT(with(program + "    duration_max: 25h\n"), HasSubstr("up to 24h"));
  EXPECT_THAT(with(program + "    duration_max: 60\n"), HasSubstr("duration_max"));
  EXPECT_THAT(with(program + longest + "    shell: true\n"), HasSubstr("shell"));
  EXPECT_THAT(with(program + longest + "    limits: {apply: 11s}\n"), HasSubstr("up to 10s"));
  EXPECT_THAT(with(program + longest + "    limits: {aply: 1s}\n"), HasSubstr("apply"));
  const auto argument = [&](const std::string& type) {
    return with(program + longest + "    arguments: {port: " + type + "}\n");
  };
  EXPECT_EQ(argument("{type: integer, min: -1, max: 1}"), "");
  EXPECT_THAT(argument("{min: 1, max: 2}"), HasSubstr("'type' is missing"));
  EXPECT_THAT(argument("{type: string}"), HasSubstr("one_of"));
  EXPECT_THAT(argument("{type: integer, min: 1}"), HasSubstr("max"));
  EXPECT_THAT(argument("{type: integer, min: 2, max: 1}"), HasSubstr("at least min"));
  EXPECT_THAT(argument("{type: integer, min: 1.5, max: 2}"), HasSubstr("no integer"));
  EXPECT_THAT(argument("{type: one_of, words: []}"), HasSubstr("1 to 256"));
  EXPECT_THAT(argument("{type: one_of, words: ['a b']}"), HasSubstr("cannot be an argument"));
  EXPECT_THAT(argument("{type: one_of, words: [a, a]}"), HasSubstr("twice"));
  EXPECT_THAT(argument("{type: name, length_max: 65}"), HasSubstr("64"));
  EXPECT_THAT(with(program + longest + "    arguments: {Port: {type: name}}\n"),
              HasSubstr("lower-case"));
  EXPECT_THAT(problem("commands:\n  -x: {}\n"), HasSubstr("lower-case"));
  EXPECT_THAT(problem("#" + std::string(48 * 1024, 'x')), HasSubstr("48 KiB"));
}

TEST(ExternalPolicy, ArgumentsAreOfTheirTypes) {
  const auto policy = read_external_policy(kPolicy, "p");
  ASSERT_TRUE(policy);
  const ExternalCommand& command = policy->commands[0].told;
  const auto fitted = fit(command, call({{"label", "Ab.1"}, {"port", "48"}, {"switch", "leaf2"}}));
  ASSERT_TRUE(fitted) << fitted.error().text();
  EXPECT_EQ(describe(*fitted), "port-down --switch=leaf2 --port=48 --label=Ab.1");
  const auto refusal = [&](std::vector<ExternalArgument> arguments) {
    const auto result = fit(command, call(std::move(arguments)));
    return result ? "" : result.error().text();
  };
  EXPECT_THAT(refusal({{"switch", "leaf1"}, {"port", "49"}, {"label", "a"}}),
              HasSubstr("right would be an integer from 1 to 48"));
  for (const char* port : {"0", "07", "+7", "7.0", "0x7", "seven"})
    EXPECT_THAT(refusal({{"switch", "leaf1"}, {"port", port}, {"label", "a"}}), HasSubstr("port"));
  EXPECT_THAT(refusal({{"switch", "spine1"}, {"port", "7"}, {"label", "a"}}),
              HasSubstr("one of leaf1, leaf2"));
  EXPECT_THAT(refusal({{"switch", "leaf1"}, {"port", "7"}, {"label", "ninechars"}}),
              HasSubstr("at most 8"));
  EXPECT_THAT(refusal({{"switch", "leaf1"}, {"port", "7"}}), HasSubstr("'label'"));
  EXPECT_THAT(refusal({{"switch", "leaf1"}, {"port", "7"}, {"label", "a"}, {"vlan", "1"}}),
              HasSubstr("no argument 'vlan'; known are switch, port, label"));
}

TEST(ExternalPolicy, NothingGetsThroughThatCouldMeanSomething) {
  for (const char* value :
       {"", "a b", "a;b", "$(reboot)", "`id`", "a|b", "a&b", "a\nb", "--force", "-rf", "../etc",
        "a/../b", "a'b", "a\"b", "*", "~root", "a=b", "\xc3\xa4"})
    EXPECT_FALSE(check(call({{"label", value}}))) << value;
  for (const char* value : {"Ethernet1/1", "10.0.0.1", "aa:bb:cc:dd:ee:ff", "-7", "9", "swp1s0"})
    EXPECT_TRUE(check(call({{"label", value}}))) << value;
  EXPECT_FALSE(check(call({{"label", "a"}, {"label", "b"}})));
  EXPECT_FALSE(check(call({{"label", std::string(65, 'a')}})));
  EXPECT_FALSE(check(ExternalCall{"port down", {}}));
  std::vector<ExternalArgument> many;
  for (int i = 0; i < 9; ++i) many.push_back({"a" + std::to_string(i), "1"});
  EXPECT_FALSE(check(call(many)));
  many.resize(8);
  EXPECT_TRUE(check(call(many)));
  for (ExternalArgument& argument : many) argument.value = std::string(60, 'a');
  EXPECT_FALSE(check(call(many))) << "over the cap of all together";
}

}  // namespace
}  // namespace rehearsal::fault
