#include "core/base/units.hpp"

#include <gmock/gmock.h>

namespace rehearsal {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(ParseBytes, ReadsBinaryAndDecimalUnits) {
  EXPECT_EQ(*parse_bytes("64MiB"), Bytes{64ULL << 20});
  EXPECT_EQ(*parse_bytes("1GB"), Bytes{1'000'000'000});
  EXPECT_EQ(*parse_bytes("1.5KiB"), Bytes{1536});
  EXPECT_EQ(*parse_bytes("0B"), Bytes{0});
}

TEST(ParseBytes, RefusesABareNumberAndSaysWhatIsRight) {
  EXPECT_THAT(parse_bytes("64").error().message,
              HasSubstr("'64' has no unit; write it like 64MiB"));
  EXPECT_THAT(parse_bytes("MiB").error().message, HasSubstr("does not start with a number"));
  EXPECT_THAT(parse_bytes("1Mib").error().message, HasSubstr("unknown unit"));
  EXPECT_THAT(parse_bytes("99999999999TiB").error().message, HasSubstr("too large"));
  EXPECT_THAT(parse_bytes("-1B").error().message, HasSubstr("does not start with a number"));
  EXPECT_THAT(parse_bytes("1.2.3B").error().message, HasSubstr("is not a number"));
}

TEST(ParseDuration, ReadsUnits) {
  EXPECT_EQ(*parse_duration("250us"), microseconds{250});
  EXPECT_EQ(*parse_duration("1.5ms"), microseconds{1500});
  EXPECT_EQ(*parse_duration("2min"), std::chrono::minutes{2});
  EXPECT_FALSE(parse_duration("20"));
}

TEST(ParseBitRate, ReadsUnits) {
  EXPECT_EQ(parse_bit_rate("100Gbit/s")->bits_per_second(), 100'000'000'000U);
  EXPECT_FALSE(parse_bit_rate("100G"));
}

TEST(FormatExact, ReadsBack) {
  for (const std::uint64_t count :
       {0ULL, 1ULL, 37ULL, 1024ULL, 102228128ULL, 64ULL << 20, 1000ULL}) {
    EXPECT_EQ(*parse_bytes(format_bytes_exact(Bytes{count})), Bytes{count});
  }
  EXPECT_EQ(format_bytes_exact(Bytes{64U << 20}), "64MiB");
  EXPECT_EQ(format_duration_exact(microseconds{250}), "250us");
  EXPECT_EQ(format_duration_exact(Duration{1500}), "1500ns");
  EXPECT_EQ(format_bit_rate_exact(BitRate{100'000'000'000}), "100Gbit/s");
}

TEST(Format, ThreeFiguresForPeople) {
  EXPECT_EQ(format_bytes(Bytes{102228128}), "97.5 MiB");
  EXPECT_EQ(format_bytes(Bytes{12}), "12 B");
  EXPECT_EQ(format_duration(microseconds{1234}), "1.23 ms");
  EXPECT_EQ(format_duration(Duration{0}), "0 ns");
  EXPECT_EQ(format_duration(-milliseconds{3}), "-3.00 ms");
  EXPECT_EQ(format_bit_rate(18.44e9), "18.4 Gbit/s");
}

TEST(TransmissionTime, IsBytesOverRate) {
  EXPECT_EQ(transmission_time(Bytes{125'000'000}, BitRate{1'000'000'000}), std::chrono::seconds{1});
  EXPECT_EQ(transmission_time(Bytes{5}, BitRate{}), Duration::zero());
}

}  // namespace
}  // namespace rehearsal
