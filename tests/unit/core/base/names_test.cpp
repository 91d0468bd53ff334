#include "core/base/names.hpp"

#include <gtest/gtest.h>

#include <array>

namespace rehearsal {
namespace {

enum class Colour { red, green };
std::string_view to_string(Colour colour) { return colour == Colour::red ? "red" : "green"; }

TEST(Names, FindsAValueByItsNameAlone) {
  constexpr std::array kColours = {Colour::red, Colour::green};
  EXPECT_EQ(value_named(kColours, "green"), Colour::green);
  EXPECT_EQ(value_named(kColours, "gree"), std::nullopt);
  EXPECT_EQ(value_named(std::array<Colour, 0>{}, "red"), std::nullopt);
}

}  // namespace
}  // namespace rehearsal
