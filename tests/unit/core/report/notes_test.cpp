#include "core/report/notes.hpp"

#include <gmock/gmock.h>

namespace rehearsal::report {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> warnings_of(NicSummary nic) {
  nic.host = "h1";
  nic.nic = "rail0";
  Summary summary;
  summary.nics.push_back(std::move(nic));
  return warnings(plan::Plan{}, summary);
}

constexpr Bytes kMegabytes100{100'000'000};

TEST(TransportNotes, SayWhereAFlowLabelIsHonouredAndWhoDoesARate) {
  plan::Plan plan;
  plan.transport.kind = plan::TransportKind::rdma;
  EXPECT_THAT(transport_notes(plan, Summary{}), Not(Contains(HasSubstr("flow label"))));
  plan.transport.rdma.flow_label = 7;
  EXPECT_THAT(
      transport_notes(plan, Summary{}),
      Contains(HasSubstr("whether the UDP source port follows it is the provider's choice")));
  plan.hosts = {{.host = "h1", .nics = {}}};
  plan.faults = {{.name = "half",
                  .what = {.kind = fault::Kind::rate, .levels = {{.rate = {500'000}}}},
                  .places = {{.side = fault::Side::received}}}};
  EXPECT_THAT(transport_notes(plan, Summary{}),
              Contains(AllOf(HasSubstr("Fault half was done by the agent"),
                             HasSubstr("not the RDMA devices: a device limits what"))));
}

TEST(Warnings, CountersThatCountHeadersAndAcknowledgementsAreFine) {
  NicSummary nic;
  nic.sent = kMegabytes100;
  nic.received = Bytes{0};
  nic.counter_sent = Bytes{103'000'000};
  nic.counter_received = Bytes{2'000'000};
  EXPECT_THAT(warnings_of(nic), IsEmpty());
}

TEST(Warnings, ACounterFarFromWhatTheRunSentIsNamed) {
  NicSummary nic;
  nic.sent = kMegabytes100;
  nic.counter_sent = Bytes{3'000'000};
  EXPECT_THAT(warnings_of(nic),
              ElementsAre(HasSubstr("NIC h1 rail0: its counter says 2.86 MiB sent")))
      << "it went by another NIC";
  nic.counter_sent = Bytes{250'000'000};
  EXPECT_THAT(warnings_of(nic), ElementsAre(HasSubstr("other traffic"))) << "somebody else sends";
}

}  // namespace
}  // namespace rehearsal::report
