#include "core/plan/external_faults.hpp"

#include <gmock/gmock.h>

#include "core/base/encoding.hpp"
#include "core/plan/drill_text.hpp"
#include "core/plan/plan_codec.hpp"
#include "core/plan/plan_faults.hpp"
#include "core/plan/plan_json.hpp"
#include "core/plan/plan_table.hpp"
#include "tests/support/sample_plan.hpp"

namespace rehearsal::plan {
namespace {

using namespace std::chrono_literals;
using fault::Fault;
using fault::Kind;
using fault::Mechanism;
using testing::AllOf;
using testing::HasSubstr;

fault::ExternalOffer offer() {
  return {.runner = true,
          .commands = {{.name = "port-down",
                        .arguments = {{"switch", fault::WordArgument{{"leaf1", "leaf2"}}},
                                      {"port", fault::IntegerArgument{1, 48}}},
                        .duration_max = 1min,
                        .time_max = 12s,
                        .problem = {}}}};
}

Fault port_down(std::vector<std::string> hosts, const std::string& port = "7") {
  return {.name = "cut",
          .what = {.kind = Kind::external,
                   .levels = {{}},
                   .call = {"port-down", {{"port", port}, {"switch", "leaf1"}}}},
          .where = {.hosts = std::move(hosts)},
          .when = {.iteration = 2, .length = 10s, .iterations = 3}};
}

/// Eight ranks, two a host; all hosts have the command.
struct Planned {
  explicit Planned(Fault fault) {
    drill.faults = {std::move(fault)};
    for (Inventory& inventory : inventories) inventory.external = offer();
  }

  Result<Plan> make() const { return make_plan(drill, inventories, profiles); }
  std::string error() const {
    const auto plan = make();
    return plan ? "" : plan.error().text();
  }

  Drill drill = test::sample_drill(4);
  std::vector<Inventory> inventories = test::sample_inventories(4);
  test::Profiles profiles = {
      {"sample", std::make_shared<const profile::Profile>(test::sample_profile(8))}};
};

TEST(ExternalFaults, ACommandIsRunOnceByEachHost) {
  const auto plan = Planned(port_down({"host1", "host2"})).make();
  ASSERT_TRUE(plan) << plan.error().text();
  const fault::PlannedFault& fault = plan->faults.at(0);
  EXPECT_EQ(fault.mechanism, Mechanism::external);
  ASSERT_EQ(fault.places.size(), 2U);
  EXPECT_EQ(fault.places[0], (fault::Place{.host = HostIndex{1}}));
  EXPECT_EQ(fault.what.command_time, 12s);
  EXPECT_EQ(command_time(*plan), 12s) << "hosts run theirs at the same time";
  const auto parts = external_parts(*plan, HostIndex{1}, Planned(port_down({})).inventories[1]);
  ASSERT_TRUE(parts) << parts.error().text();
  ASSERT_EQ(parts->size(), 1U);
  EXPECT_EQ(describe(parts->at(0).levels.at(0)), "external port-down --switch=leaf1 --port=7");
  EXPECT_EQ(parts->at(0).time_max, 12s);
  EXPECT_EQ(parts->at(0).duration_max, 1min);
  const auto none = external_parts(*plan, HostIndex{0}, Planned(port_down({})).inventories[0]);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
}

TEST(ExternalFaults, APlansBytesAndItsHashHaveTheCall) {
  const auto plan = Planned(port_down({"host1"})).make();
  ASSERT_TRUE(plan);
  const auto decoded = decode(encode(*plan));
  ASSERT_TRUE(decoded) << decoded.error().text();
  EXPECT_EQ(decoded->faults, plan->faults);
  const auto other = Planned(port_down({"host1"}, "8")).make();
  ASSERT_TRUE(other);
  EXPECT_NE(plan_hash(*other), plan_hash(*plan));
}

TEST(ExternalFaults, ADryPlanSaysWhatIsRunByWhomAndForHowLong) {
  const auto plan = Planned(port_down({"host1"})).make();
  ASSERT_TRUE(plan);
  EXPECT_THAT(faults_table(*plan),
              AllOf(HasSubstr("what   external port-down --port=7 --switch=leaf1"),
                    HasSubstr("where  host1"), HasSubstr("at most 10s"),
                    HasSubstr("by the host's rehearsal-external"),
                    HasSubstr("at most 12s to do or to undo it"),
                    HasSubstr("5s after the coordinator's last word")));
  Planned nobody(port_down({"host1"}));
  for (Inventory& inventory : nobody.inventories)
    inventory.external = {.runner = true, .is_assumed = true};
  const auto assumed = nobody.make();
  ASSERT_TRUE(assumed) << assumed.error().text();
  EXPECT_THAT(faults_table(*assumed), HasSubstr("which was not asked"));
}

TEST(ExternalFaults, WhatAHostDoesNotRunIsRefused) {
  Planned without(port_down({"host1"}));
  without.inventories[1].external = {};
  EXPECT_THAT(without.error(), AllOf(HasSubstr("faults[0].what.kind"),
                                     HasSubstr("'host1' has no rehearsal-external")));
  Fault unknown = port_down({"host1"});
  unknown.what.call.command = "reload";
  EXPECT_THAT(Planned(unknown).error(),
              AllOf(HasSubstr("faults[0].what.command"), HasSubstr("does not allow"),
                    HasSubstr("'reload'; its policy names port-down")));
  EXPECT_THAT(Planned(port_down({"host1"}, "49")).error(),
              AllOf(HasSubstr("faults[0].what.arguments"), HasSubstr("'port'"), HasSubstr("'49'"),
                    HasSubstr("an integer from 1 to 48")));
  Fault narrow = port_down({"host1"});
  narrow.what.call.arguments.pop_back();
  EXPECT_THAT(Planned(narrow).error(), HasSubstr("'switch' of command 'port-down' is missing"));
  Fault more = port_down({"host1"});
  more.what.call.arguments.push_back({"vlan", "4"});
  EXPECT_THAT(Planned(more).error(), HasSubstr("no argument 'vlan'; known are switch, port"));
  Fault longer = port_down({"host1"});
  longer.when.length = 2min;
  EXPECT_THAT(Planned(longer).error(),
              AllOf(HasSubstr("faults[0].when.for"), HasSubstr("at most 1min")));
  Fault flapping = port_down({"host1"});
  flapping.when = {.after = 1s, .length = 50s, .on = 5s, .off = 20s};
  EXPECT_THAT(Planned(flapping).error(),
              AllOf(HasSubstr("faults[0].when.repeat"), HasSubstr("may take 12s")));
  Planned broken(port_down({"host1"}));
  broken.inventories[1].external.commands[0].problem = "it is writable by all";
  EXPECT_THAT(broken.error(), HasSubstr("cannot run 'port-down'; it is writable by all"));
}

TEST(ExternalFaults, AHostThatChangedItsMindRefusesThePlan) {
  const auto plan = Planned(port_down({"host1"})).make();
  ASSERT_TRUE(plan);
  Inventory now = Planned(port_down({})).inventories[1];
  now.external.commands[0].arguments[1].type = fault::IntegerArgument{1, 4};
  const auto parts = external_parts(*plan, HostIndex{1}, now);
  ASSERT_FALSE(parts);
  EXPECT_THAT(parts.error().text(), AllOf(HasSubstr("fault 'cut'"), HasSubstr("from 1 to 4")));
}

TEST(ExternalFaults, TheSameCallCannotBeOnTwiceOtherCallsCan) {
  Planned planned(port_down({"host1"}));
  Fault second = port_down({"host1"});
  second.name = "again";
  planned.drill.faults.push_back(second);
  EXPECT_THAT(planned.error(), HasSubstr("could both be on at host1"));
  planned.drill.faults[1] = port_down({"host1"}, "8");
  planned.drill.faults[1].name = "beside";
  EXPECT_EQ(planned.error(), "");
  EXPECT_EQ(command_time(*planned.make()), 24s) << "a host runs one after the other";
}

std::string drill_with(const std::string& what, const std::string& where = "{hosts: h1}",
                       const std::string& more = "") {
  const std::string text =
      "drill: d\niterations: 9\njobs:\n  - {name: j, profile: p.yaml, hosts: [h1]}\nfaults:\n"
      "  - name: cut\n    what: " +
      what + "\n    where: " + where + "\n    when: {iteration: 1, for: 5s}\n" + more;
  const auto drill = parse_drill(text, "drill.yaml");
  if (!drill) return drill.error().text();
  return describe(drill->faults.at(0).what);
}

TEST(ExternalFaults, AreReadFromADrill) {
  EXPECT_EQ(drill_with("{kind: external, command: port-down, arguments: {port: 7, switch: leaf1}}"),
            "external port-down --port=7 --switch=leaf1");
  EXPECT_EQ(drill_with("{kind: external, command: drain}"), "external drain");
  EXPECT_THAT(drill_with("{kind: external}"), HasSubstr("'command'"));
  EXPECT_THAT(drill_with("{kind: external, command: port-down, argument: {}}"),
              HasSubstr("arguments"));
  EXPECT_THAT(drill_with("{kind: external, command: 'rm -rf'}"),
              HasSubstr("cannot name a command"));
  EXPECT_THAT(drill_with("{kind: external, command: cut, arguments: {port: 'a; b'}}"),
              AllOf(HasSubstr("drill.yaml:7"), HasSubstr("'a; b'"), HasSubstr("right would be")));
  EXPECT_THAT(drill_with("{kind: external, command: cut, arguments: {port: [1, 2]}}"),
              HasSubstr("drill.yaml:7"));
  EXPECT_THAT(drill_with("{kind: external, command: cut}", "{hosts: h1, nics: eth1}"),
              HasSubstr("a command is run by hosts"));
  EXPECT_THAT(drill_with("{kind: external, command: cut}", "{hosts: h1, direction: sent}"),
              HasSubstr("a command is run by hosts"));
  EXPECT_THAT(
      drill_with("{kind: external, command: cut}", "{hosts: h1}", "    mechanism: kernel\n"),
      HasSubstr("run by rehearsal-external"));
  EXPECT_THAT(drill_with("{kind: blackhole}", "{hosts: h1}", "    mechanism: external\n"),
              HasSubstr("none of an operator's commands"));
}

}  // namespace
}  // namespace rehearsal::plan
