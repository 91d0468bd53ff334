#include "daemon/metrics.hpp"

#include <gmock/gmock.h>

#include "daemon/metric_catalogue.hpp"
#include "tests/support/documented.hpp"

namespace rehearsal::daemon {
namespace {

using testing::HasSubstr;

TEST(CoordinatorMetrics, TheCatalogueForPeopleIsTheCatalogue) {
  EXPECT_THAT(rehearsal::test::documented("metrics.md", "rehearsald"),
              HasSubstr(runtime::markdown_table(kMetricCatalogue)))
      << "docs/metrics.md has to hold this table";
}

TEST(CoordinatorMetrics, AllOfTheCatalogueIsExportedAndNothingElse) {
  CoordinatorMetrics metrics("1.2.3", 7);
  const std::string exported = rehearsal::test::metric_names(metrics.text({}, {}, 0, 0));
  for (const auto& row : kMetricCatalogue) {
    const std::string line = std::string(row.name) + " " + std::string(to_string(row.kind)) + "\n";
    EXPECT_THAT(exported, HasSubstr(line));
  }
  EXPECT_EQ(std::count(exported.begin(), exported.end(), '\n'), std::ssize(kMetricCatalogue));
}

TEST(CoordinatorMetrics, FiguresComeFromTheParts) {
  CoordinatorMetrics metrics("1.2.3", 7);
  coordination::CoordinatorView view;
  view.state = coordination::RunState::running;
  view.agents = 4;
  view.iterations = 20;
  view.iterations_done = 3;
  view.runs_by_verdict[1] = 2;
  metrics.event_handled(std::chrono::microseconds{50});
  const std::string text = metrics.text(view, {.sessions = 5, .messages_sent = 9}, 2, 1);
  EXPECT_THAT(text, HasSubstr("rehearsal_coordinator_info{version=\"1.2.3\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("rehearsal_coordinator_epoch 7\n"));
  EXPECT_THAT(text, HasSubstr("rehearsal_coordinator_agents 4\n"));
  EXPECT_THAT(text, HasSubstr("rehearsal_coordinator_sessions 5\n"));
  EXPECT_THAT(text, HasSubstr("rehearsal_coordinator_messages_total{direction=\"sent\"} 9\n"));
  EXPECT_THAT(text, HasSubstr("rehearsal_coordinator_run_state{state=\"running\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("rehearsal_coordinator_run_state{state=\"idle\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("rehearsal_coordinator_run_iterations_done 3\n"));
  EXPECT_THAT(text, HasSubstr("rehearsal_coordinator_runs_total{verdict=\"warn\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("rehearsal_coordinator_runs_lost_total 1\n"));
  EXPECT_THAT(text, HasSubstr("rehearsal_coordinator_event_seconds_count 1\n"));
}

}  // namespace
}  // namespace rehearsal::daemon
