#include "cli/plan_answer.hpp"

#include <gmock/gmock.h>

namespace rehearsal::cli {
namespace {

TEST(PlanHash, TwelveDigitsOrMoreInLowerCase) {
  EXPECT_EQ(parse_plan_hash("B838d8e34928"), "b838d8e34928");
  EXPECT_EQ(parse_plan_hash(std::string(64, 'f')), std::string(64, 'f'));
}

TEST(PlanHash, AnythingElseIsUsage) {
  for (const std::string& text :
       {std::string{}, std::string(11, 'a'), std::string(65, 'a'), std::string{"b838d8e3492g"},
        std::string{"sha256:b838d8e34928"}}) {
    const auto hash = parse_plan_hash(text);
    ASSERT_FALSE(hash) << text;
    EXPECT_EQ(hash.error().code, ErrorCode::invalid_input);
    EXPECT_THAT(hash.error().message, testing::HasSubstr("12 to 64 hexadecimal digits"));
  }
}

TEST(PlanHash, IsShownByItsFirstDigits) {
  EXPECT_EQ(shown_hash(std::string(64, 'a')), std::string(12, 'a'));
  EXPECT_EQ(shown_hash(""), "");
}

}  // namespace
}  // namespace rehearsal::cli
