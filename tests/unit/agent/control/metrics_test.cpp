#include "agent/control/metrics.hpp"

#include <gmock/gmock.h>

#include "agent/control/metric_catalogue.hpp"
#include "tests/support/documented.hpp"

namespace rehearsal::agent {
namespace {

using testing::HasSubstr;

const plan::Inventory kInventory{
    .host = "host1",
    .nics = {{.name = "eth1", .address = "10.79.1.3", .line_rate = BitRate{8'000}, .mtu = 1500}}};

TEST(AgentMetrics, TheCatalogueForPeopleIsTheCatalogue) {
  EXPECT_THAT(rehearsal::test::documented("metrics.md", "rehearsal-agent"),
              HasSubstr(runtime::markdown_table(kMetricCatalogue)))
      << "docs/metrics.md has to hold this table";
}

TEST(AgentMetrics, AllOfTheCatalogueIsExportedAndNothingElse) {
  AgentMetrics metrics("1.2.3", kInventory);
  const std::string exported = rehearsal::test::metric_names(metrics.text({}, {}));
  for (const auto& row : kMetricCatalogue) {
    const std::string line = std::string(row.name) + " " + std::string(to_string(row.kind)) + "\n";
    EXPECT_THAT(exported, HasSubstr(line));
  }
  EXPECT_EQ(std::count(exported.begin(), exported.end(), '\n'), std::ssize(kMetricCatalogue));
}

TEST(AgentMetrics, FiguresComeFromTheParts) {
  AgentMetrics metrics("1.2.3", kInventory);
  coordination::AgentView view;
  view.joined = true;
  view.run = "run-1";
  view.clock_known = true;
  view.clock_offset = std::chrono::milliseconds{-250};
  AgentLoopCounters counters;
  counters.links_lost = 2;
  counters.worker.bytes_local = 77;
  counters.worker.background_bytes_sent = 88;
  counters.worker.background_bytes_received = 99;
  counters.worker.turn_nanoseconds_max = 1'500'000'000;
  const std::string text = metrics.text(view, counters);
  EXPECT_THAT(text, HasSubstr("rehearsal_agent_joined 1\n"));
  EXPECT_THAT(text, HasSubstr("rehearsal_agent_run_active 1\n"));
  EXPECT_THAT(text, HasSubstr("rehearsal_agent_links_lost_total 2\n"));
  EXPECT_THAT(text, HasSubstr("rehearsal_agent_clock_offset_seconds -0.25\n"));
  EXPECT_THAT(text, HasSubstr("rehearsal_agent_payload_bytes_total{way=\"local\"} 77\n"));
  EXPECT_THAT(text, HasSubstr("rehearsal_agent_background_bytes_total{way=\"sent\"} 88\n"));
  EXPECT_THAT(text, HasSubstr("rehearsal_agent_background_bytes_total{way=\"received\"} 99\n"));
  EXPECT_THAT(text, HasSubstr("rehearsal_agent_worker_turn_max_seconds 1.5\n"));
  EXPECT_THAT(text,
              HasSubstr("rehearsal_agent_nic_line_rate_bytes_per_second{nic=\"eth1\"} 1000\n"));
}

}  // namespace
}  // namespace rehearsal::agent
