#include "core/host/core_list.hpp"

#include <gmock/gmock.h>

namespace rehearsal::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(CoreList, IsReadAndWrittenAsTheKernelDoes) {
  EXPECT_THAT(parse_core_list("0-3,8,10-11\n").value(), ElementsAre(0, 1, 2, 3, 8, 10, 11));
  EXPECT_THAT(parse_core_list("").value(), IsEmpty());
  EXPECT_THAT(parse_core_list("5,1-2,2").value(), ElementsAre(1, 2, 5)) << "in order, each once";
  EXPECT_EQ(core_list_text({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
  EXPECT_EQ(core_list_text({7}), "7");
  EXPECT_EQ(core_list_text({}), "none");
}

TEST(CoreList, WhatIsNoneIsRefused) {
  for (const char* text : {"a", "1-", "3-1", "1,,2", "1,", "-1", "4096", "0-99999", "1 2", "0x1"})
    EXPECT_FALSE(parse_core_list(text)) << text;
  EXPECT_THAT(parse_core_list("0-9,x").error().message, HasSubstr("'0-9,x' is no list of cores"));
}

TEST(CoreList, CommonOnes) {
  EXPECT_THAT(common_cores({1, 2, 3, 9}, {2, 4, 9}), ElementsAre(2, 9));
  EXPECT_THAT(common_cores({1}, {2}), IsEmpty());
}

}  // namespace
}  // namespace rehearsal::host
