#include "core/report/health.hpp"

#include <gmock/gmock.h>

namespace rehearsal::report {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

NicSummary nic(std::string counter, std::uint64_t rise, Duration span) {
  return {.host = "h1",
          .nic = "eth2",
          .device_counters = {{.name = std::move(counter), .rise = rise}},
          .counters_span = span};
}

TEST(HealthTest, ALinkThatWentDownIsTooMuchAtOnce) {
  EXPECT_THAT(health_warnings(nic("link_downed", 1, 1h)),
              ElementsAre(HasSubstr("NIC h1 eth2: link_downed rose by 1")));
}

TEST(HealthTest, RatesAreJudgedOverTheTimeBetweenReadings) {
  EXPECT_THAT(health_warnings(nic("symbol_error", 90, 10s)), IsEmpty());
  EXPECT_THAT(health_warnings(nic("symbol_error", 110, 10s)),
              ElementsAre(HasSubstr("the limit is 10 a second")));
  EXPECT_THAT(health_warnings(nic("link_error_recovery", 4, 60s)), IsEmpty());
  EXPECT_THAT(health_warnings(nic("link_error_recovery", 6, 60s)), ElementsAre(testing::_));
}

TEST(HealthTest, WhatHasNoLimitIsNotJudged) {
  EXPECT_EQ(health_limit("sent_pkts"), nullptr);
  EXPECT_THAT(health_warnings(nic("sent_pkts", 1'000'000, 1s)), IsEmpty());
}

}  // namespace
}  // namespace rehearsal::report
