#include "core/base/text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace rehearsal {
namespace {

TEST(InQuotes, IsSafeToPrint) {
  EXPECT_EQ(in_quotes("host0"), "'host0'");
  EXPECT_EQ(in_quotes("a\nb\x1b"), "'a\\x0ab\\x1b'");
  EXPECT_EQ(in_quotes(std::string(61, 'x')), "'" + std::string(60, 'x') + "...'");
}

TEST(Ascii, LeavesNoHalfCharacter) { EXPECT_EQ(ascii("a caf\xc3"), "a caf?"); }

TEST(Joined, CountsWhatIsLeftOut) {
  const std::vector<std::string> words = {"a", "b", "c"};
  EXPECT_EQ(joined(words), "a, b, c");
  EXPECT_EQ(joined(words, 2), "a, b and 1 more");
  EXPECT_EQ(joined(std::vector<std::string>{}), "");
}

TEST(Closest, FindsTypingMistakesOnly) {
  constexpr std::array<std::string_view, 3> kWords = {"name", "hosts", "ranks_per_host"};
  EXPECT_EQ(closest("nmae", kWords), "name");
  EXPECT_EQ(closest("host", kWords), "hosts");
  EXPECT_EQ(closest("ranks-per-host", kWords), "ranks_per_host");
  EXPECT_EQ(closest("profile", kWords), "");
  EXPECT_EQ(closest("", kWords), "");
  EXPECT_EQ(closest(std::string(1000, 'n'), kWords), "");
}

}  // namespace
}  // namespace rehearsal
