#include "core/protocol/parts.hpp"

#include <gtest/gtest.h>

#include "core/protocol/frame.hpp"

namespace rehearsal::protocol {
namespace {

std::string bulk(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 >> 3);
  return bytes;
}

TEST(Parts, PutTogetherAgainTheyAreTheWhole) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, kPartBytesMax, kPartBytesMax + 1, 3 * kPartBytesMax + 17}) {
    const std::string whole = bulk(size);
    PartAssembler assembler(8 * kPartBytesMax, "plan");
    const std::vector<Part> parts = parts_of(whole);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      EXPECT_LE(parts[i].bytes.size(), kPartBytesMax);
      EXPECT_EQ(assembler.add(parts[i]), i + 1 == parts.size());
    }
    EXPECT_EQ(assembler.take(), whole);
  }
}

TEST(PartAssembler, IsNotCompleteBeforeTheFirstPart) {
  EXPECT_FALSE(PartAssembler(10, "plan").complete());
}

TEST(PartAssembler, ASizeOverTheCapIsRefusedWithTheFirstPart) {
  PartAssembler assembler(100, "profile 'big'");
  const auto added = assembler.add({.size = 101, .offset = 0, .bytes = "x"});
  ASSERT_FALSE(added.has_value());
  EXPECT_EQ(added.error().code, ErrorCode::too_large);
  EXPECT_NE(added.error().text().find("profile 'big'"), std::string::npos);
  EXPECT_EQ(assembler.received(), 0u);
}

TEST(PartAssembler, ARepeatedPartIsPassedOver) {
  PartAssembler assembler(100, "plan");
  EXPECT_EQ(assembler.add({.size = 6, .offset = 0, .bytes = "abc"}), false);
  EXPECT_EQ(assembler.add({.size = 6, .offset = 0, .bytes = "abc"}), false);
  EXPECT_EQ(assembler.add({.size = 6, .offset = 3, .bytes = "def"}), true);
  EXPECT_EQ(assembler.add({.size = 6, .offset = 3, .bytes = "def"}), true);
  EXPECT_EQ(assembler.take(), "abcdef");
}

TEST(PartAssembler, GapsOverlapsOverrunsAndChangedSizesAreRefused) {
  PartAssembler assembler(100, "plan");
  EXPECT_FALSE(assembler.add({.size = 6, .offset = 1, .bytes = "b"}).has_value());
  ASSERT_TRUE(assembler.add({.size = 6, .offset = 0, .bytes = "abc"}).has_value());
  EXPECT_FALSE(assembler.add({.size = 7, .offset = 3, .bytes = "def"}).has_value());
  EXPECT_FALSE(assembler.add({.size = 6, .offset = 4, .bytes = "e"}).has_value());
  EXPECT_FALSE(assembler.add({.size = 6, .offset = 2, .bytes = "cd"}).has_value());
  EXPECT_FALSE(assembler.add({.size = 6, .offset = 3, .bytes = "defg"}).has_value());
  EXPECT_FALSE(assembler.add({.size = 6, .offset = ~std::uint64_t{0}, .bytes = "d"}).has_value());
  EXPECT_EQ(assembler.add({.size = 6, .offset = 3, .bytes = "def"}), true);
}

}  // namespace
}  // namespace rehearsal::protocol
