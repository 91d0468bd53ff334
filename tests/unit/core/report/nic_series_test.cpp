#include "core/report/nic_series.hpp"

#include <gmock/gmock.h>

namespace rehearsal::report {
namespace {

TEST(NicSeriesTest, PayloadAloneOrWithWhatTheNicCounted) {
  measure::NicMeasurements nic;
  ASSERT_EQ(series_of(nic, "posted").size(), 2U);
  EXPECT_EQ(series_of(nic, "posted")[1].series, &nic.received_series);
  nic.wire = measure::WireMeasurements{.sent_source = "port_xmit_data",
                                       .received_source = "port_rcv_data"};
  const auto all = series_of(nic, "completed");
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].source, "completed");
  EXPECT_TRUE(all[2].sent);
  EXPECT_EQ(all[2].source, "counter port_xmit_data");
  EXPECT_EQ(all[2].series, &nic.wire->sent);
  EXPECT_FALSE(all[3].sent);
  EXPECT_EQ(all[3].source, "counter port_rcv_data");
  EXPECT_TRUE(is_counter(all[3].source));
  EXPECT_FALSE(is_counter(all[0].source));
}

}  // namespace
}  // namespace rehearsal::report
