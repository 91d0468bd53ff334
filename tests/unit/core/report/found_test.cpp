#include "core/report/found.hpp"

#include <gmock/gmock.h>

#include "core/report/suspects.hpp"
#include "tests/unit/core/report/small_run.hpp"

namespace rehearsal::report {
namespace {

using namespace std::chrono_literals;
using diagnosis::Suspect;
using fault::Kind;
using fault::Side;
using testing::HasSubstr;
using Spot = diagnosis::Place;

/// h0 … h3 with rail0 and rail1: NICs 0 to 7.
plan::Plan four_hosts() {
  plan::Plan plan = test::small_plan();
  plan.hosts.clear();
  for (int i = 0; i < 4; ++i) {
    plan.hosts.push_back(
        {"h" + std::to_string(i),
         {{"rail0", "10.79.1.1", BitRate{0}, 1500}, {"rail1", "10.79.2.1", BitRate{0}, 1500}},
         false});
  }
  return plan;
}

fault::PlannedFault fault_at(fault::Place place, Kind kind = Kind::rate) {
  return {.name = "cut", .what = {.kind = kind, .levels = {{}}}, .places = {place}};
}

bool named(fault::Place place, Suspect suspect, Kind kind = Kind::rate) {
  return names(four_hosts(), fault_at(place, kind), suspect);
}

TEST(Found, ANicIsNamedByANicOfItsHostInADirectionThatTheFaultHas) {
  const fault::Place all{.host = HostIndex{1}};
  EXPECT_TRUE(named(all, {.place = Spot::nic, .nic = 2}));
  EXPECT_TRUE(named(all, {.place = Spot::nic, .nic = 3}));
  EXPECT_TRUE(named(all, {.place = Spot::nic_sending, .nic = 2}));
  EXPECT_TRUE(named(all, {.place = Spot::host, .host = HostIndex{1}}));
  EXPECT_FALSE(named(all, {.place = Spot::nic, .nic = 4}));
  EXPECT_FALSE(named(all, {.place = Spot::host, .host = HostIndex{2}}));

  const fault::Place received{.host = HostIndex{1}, .side = Side::received, .nic = NicIndex{1}};
  EXPECT_TRUE(named(received, {.place = Spot::nic_receiving, .nic = 3}));
  EXPECT_TRUE(named(received, {.place = Spot::nic, .nic = 3}));
  EXPECT_FALSE(named(received, {.place = Spot::nic_sending, .nic = 3}));
  EXPECT_FALSE(named(received, {.place = Spot::nic_receiving, .nic = 2}));
  EXPECT_FALSE(named(received, {.place = Spot::host, .host = HostIndex{1}}));
}

TEST(Found, ALinkIsTheNicOnlyWhereItIsItsOnlyFlow) {
  const fault::Place sent{.host = HostIndex{1}, .side = Side::sent, .nic = NicIndex{0}};
  Suspect link{.place = Spot::link, .nic = 2, .destination = 4, .ends_alike = true};
  EXPECT_TRUE(named(sent, link));
  link.ends_alike = false;
  EXPECT_FALSE(named(sent, link));
  link = {.place = Spot::link, .nic = 0, .destination = 2, .ends_alike = true};
  EXPECT_FALSE(named(sent, link)) << "it receives there";
}

TEST(Found, AFlowIsNamedByItsLinkAlone) {
  const fault::Place flow{.host = HostIndex{1}, .side = Side::sent, .peer = HostIndex{3}};
  EXPECT_TRUE(named(flow, {.place = Spot::link, .nic = 2, .destination = 6}));
  EXPECT_FALSE(named(flow, {.place = Spot::link, .nic = 2, .destination = 4}));
  EXPECT_FALSE(named(flow, {.place = Spot::nic_sending, .nic = 2}));
}

TEST(Found, ComputingIsNoTraffic) {
  const fault::Place rank{.host = HostIndex{1}, .job = JobIndex{0}, .rank = Rank{3}};
  const Suspect slow{.place = Spot::rank, .host = HostIndex{1}, .rank = Rank{3}, .computing = true};
  EXPECT_TRUE(named(rank, slow, Kind::straggler));
  EXPECT_FALSE(named(rank, slow, Kind::delay));
  EXPECT_FALSE(named(rank, {.place = Spot::nic, .nic = 2}, Kind::straggler));
  Suspect other = slow;
  other.rank = Rank{2};
  EXPECT_FALSE(named(rank, other, Kind::straggler));
  EXPECT_TRUE(named({.host = HostIndex{1}}, other, Kind::pause)) << "all ranks of the host";
  EXPECT_FALSE(named({.host = HostIndex{1}}, other, Kind::crash));
}

fault::PlannedFault traffic(Kind kind, std::vector<fault::Place> places) {
  return {.name = "jam", .what = {.kind = kind, .levels = {{}}}, .places = std::move(places)};
}

fault::Place flow(std::uint32_t host, Side side, std::uint32_t peer) {
  return {.host = HostIndex{host}, .side = side, .nic = NicIndex{0}, .peer = HostIndex{peer}};
}

TEST(Found, AnIncastIsWhereItArrives) {
  const auto incast = traffic(Kind::incast, {flow(1, Side::received, 0), flow(1, Side::received, 2),
                                             flow(1, Side::received, 3)});
  const plan::Plan plan = four_hosts();
  EXPECT_TRUE(names(plan, incast, {.place = Spot::nic_receiving, .nic = 2}));
  EXPECT_TRUE(names(plan, incast, {.place = Spot::nic, .nic = 2}));
  EXPECT_TRUE(
      names(plan, incast, {.place = Spot::link, .nic = 0, .destination = 2, .ends_alike = true}));
  EXPECT_FALSE(names(plan, incast, {.place = Spot::link, .nic = 0, .destination = 2}));
  EXPECT_FALSE(names(plan, incast, {.place = Spot::nic_sending, .nic = 2}));
  EXPECT_FALSE(names(plan, incast, {.place = Spot::nic_sending, .nic = 0}));
  EXPECT_FALSE(names(plan, incast, {.place = Spot::rank, .host = HostIndex{1}, .computing = true}));
}

TEST(Found, BackgroundIsAtTheNicItIsAimedAtAndAtItsOnlyPeer) {
  const plan::Plan plan = four_hosts();
  const auto one = traffic(Kind::background, {flow(1, Side::sent, 2)});
  EXPECT_TRUE(names(plan, one, {.place = Spot::nic_sending, .nic = 2}));
  EXPECT_TRUE(names(plan, one, {.place = Spot::nic_receiving, .nic = 4}));
  EXPECT_TRUE(names(plan, one, {.place = Spot::link, .nic = 2, .destination = 4}));
  EXPECT_FALSE(names(plan, one, {.place = Spot::nic_receiving, .nic = 2}));

  const auto many = traffic(Kind::background, {flow(1, Side::sent, 2), flow(1, Side::sent, 3)});
  EXPECT_TRUE(names(plan, many, {.place = Spot::nic_sending, .nic = 2}));
  EXPECT_FALSE(names(plan, many, {.place = Spot::nic_receiving, .nic = 4}));
  EXPECT_FALSE(names(plan, many, {.place = Spot::link, .nic = 2, .destination = 4}));
}

struct Looked {
  explicit Looked(std::optional<std::vector<Suspect>> suspects, bool on = true,
                  fault::Kind kind = fault::Kind::rate) {
    plan::Plan plan = four_hosts();
    plan.faults = {fault_at({.host = HostIndex{1}, .nic = NicIndex{0}})};
    plan.faults[0].what.kind = kind;
    std::vector<FaultSummary> faults = {{.name = "cut"}};
    if (on) faults[0].spells = {{.host = "h1", .ended = 1s}};
    find_faults(plan, suspects, in_names(plan, suspects), faults);
    fault = faults[0];
  }
  FaultSummary fault;
};

TEST(Found, SaysByWhichSuspect) {
  const FaultSummary fault =
      Looked({{{.place = Spot::rank, .rank = Rank{1}, .computing = true, .confidence = 0.99},
               {.place = Spot::nic, .nic = 2, .confidence = 0.93}}})
          .fault;
  EXPECT_EQ(fault.found, Found::yes);
  EXPECT_EQ(fault.suspect, 1U);
  EXPECT_EQ(fault.confidence, 0.93);
  EXPECT_EQ(fault.finding,
            "The fault cut (h1 rail0) is the suspect that was named, confidence 0.93.");
}

TEST(Found, SaysWhomTheSuspicionFellOnInstead) {
  EXPECT_EQ(Looked(std::vector<Suspect>{}).fault.finding,
            "The fault cut (h1 rail0) was not found: nobody was named.");
  const FaultSummary other = Looked({{{.place = Spot::nic, .nic = 4}}}).fault;
  EXPECT_EQ(other.found, Found::no);
  EXPECT_THAT(other.finding, HasSubstr("the suspect is another, h2/rail0 sends and receives"));
  EXPECT_FALSE(other.suspect);
}

TEST(Found, IsNotAskedOfWhatWasNeverOnOrNotMeasured) {
  const FaultSummary never = Looked(std::vector<Suspect>{}, false).fault;
  EXPECT_EQ(never.found, Found::not_applicable);
  EXPECT_THAT(never.finding, HasSubstr("it was never on"));
  EXPECT_THAT(Looked(std::nullopt).fault.finding, HasSubstr("nothing was measured"));
}

TEST(Found, IsNotAskedOfWhatHasNoPlaceOrNoTime) {
  const std::vector<Suspect> suspects{{.place = Spot::nic, .nic = 2, .confidence = 0.93}};
  const FaultSummary command = Looked(suspects, true, fault::Kind::external).fault;
  EXPECT_EQ(command.found, Found::not_applicable);
  EXPECT_THAT(command.finding, HasSubstr("for its arguments to say"));
  const FaultSummary crash = Looked(suspects, true, fault::Kind::crash).fault;
  EXPECT_EQ(crash.found, Found::not_applicable);
  EXPECT_THAT(crash.finding, HasSubstr("ends the run at once"));
}

TEST(Found, HasNames) {
  for (const Found found : {Found::yes, Found::no, Found::not_applicable})
    EXPECT_EQ(found_from(to_string(found)), found);
  EXPECT_FALSE(found_from("maybe"));
}

}  // namespace
}  // namespace rehearsal::report
