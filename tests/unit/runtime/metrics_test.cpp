#include "runtime/metrics.hpp"

#include <gmock/gmock.h>

namespace rehearsal::runtime {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr MetricRow kRows[] = {
    {.name = "rehearsal_a_total", .kind = MetricKind::counter, .unit = "1", .help = "A."},
    {.name = "rehearsal_b_bytes", .unit = "bytes", .label = "nic", .help = "B, one a NIC."},
    {.name = "rehearsal_c", .unit = "1", .label = "state", .values = "on off", .help = "C."},
    {.name = "rehearsal_d_seconds", .kind = MetricKind::histogram, .unit = "seconds", .help = "D."},
};

TEST(Metrics, WhatIsKnownIsExportedFromTheStart) {
  const Metrics metrics(kRows);
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("# HELP rehearsal_a_total A.\n# TYPE rehearsal_a_total counter\n"
                              "rehearsal_a_total 0\n"));
  EXPECT_THAT(text, HasSubstr("rehearsal_c{state=\"on\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("rehearsal_c{state=\"off\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("rehearsal_d_seconds_count 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("rehearsal_b_bytes{")));
}

TEST(Metrics, CountersOnlyRise) {
  Metrics metrics(kRows);
  metrics.set("rehearsal_a_total", 5);
  metrics.set("rehearsal_a_total", 3);
  metrics.add("rehearsal_a_total");
  EXPECT_THAT(metrics.text(), HasSubstr("rehearsal_a_total 6\n"));
}

TEST(Metrics, GaugesAndHistograms) {
  Metrics metrics(kRows);
  metrics.set("rehearsal_b_bytes", "eth1", 7);
  metrics.set("rehearsal_b_bytes", "eth1", 3);
  metrics.observe("rehearsal_d_seconds", 0.5);
  EXPECT_THAT(metrics.text(), HasSubstr("rehearsal_b_bytes{nic=\"eth1\"} 3\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("rehearsal_d_seconds_sum 0.5\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("rehearsal_d_seconds_bucket{le=\"+Inf\"} 1\n"));
}

TEST(Metrics, AMetricOutsideTheCatalogueIsABug) {
  Metrics metrics(kRows);
  EXPECT_DEATH(metrics.set("rehearsal_surprise", 1), "row in the catalogue");
  EXPECT_DEATH(metrics.set("rehearsal_b_bytes", 1), "set with a label");
}

TEST(Metrics, TheTableForPeople) {
  EXPECT_THAT(markdown_table(kRows),
              HasSubstr("| `rehearsal_c` | gauge | 1 | state: on off | C. |\n"));
}

}  // namespace
}  // namespace rehearsal::runtime
