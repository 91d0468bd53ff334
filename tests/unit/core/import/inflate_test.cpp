#include "core/import/inflate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rehearsal::importer {
namespace {

using testing::HasSubstr;

// printf hello | gzip -n -9
const std::string kHello{
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\x07\x00\x86\xa6\x10\x36\x05\x00"
    "\x00\x00",
    25};

TEST(Inflate, OneMemberOrSeveral) {
  ASSERT_TRUE(is_gzip(kHello));
  EXPECT_EQ(gunzip("a.gz", kHello, 100).value(), "hello");
  EXPECT_EQ(gunzip("a.gz", kHello + kHello, 100).value(), "hellohello");
}

TEST(Inflate, StopsAtTheCap) {
  EXPECT_EQ(gunzip("a.gz", kHello, 5).value(), "hello");
  const auto over = gunzip("a.gz", kHello, 4);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, ErrorCode::too_large);
  EXPECT_THAT(over.error().text(), HasSubstr("a.gz: more than 4 bytes when unpacked"));
}

TEST(Inflate, EveryTruncationIsAnError) {
  for (std::size_t size = 0; size < kHello.size(); ++size) {
    EXPECT_FALSE(gunzip("a.gz", kHello.substr(0, size), 100)) << size;
  }
}

TEST(Inflate, DamageIsAnError) {
  std::string damaged = kHello;
  damaged[18] = '\x01';
  EXPECT_THAT(gunzip("a.gz", damaged, 100).error().text(), HasSubstr("a.gz: damaged gzip data"));
  EXPECT_FALSE(gunzip("a.gz", kHello + "tail", 100));
}

}  // namespace
}  // namespace rehearsal::importer
