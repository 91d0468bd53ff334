#include "core/protocol/frame.hpp"

#include <gtest/gtest.h>

#include "core/base/random.hpp"

namespace rehearsal::protocol {
namespace {

TEST(Frame, HeaderIsTheLengthBigEndian) {
  EXPECT_EQ(frame("abc"), std::string("\0\0\0\3abc", 7));
  EXPECT_EQ(frame(""), std::string(4, '\0'));
}

TEST(FrameDecoder, PayloadsComeOutWholeHoweverTheBytesArrive) {
  constexpr std::uint64_t kSeed = 20;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  std::vector<std::string> sent;
  std::string stream;
  for (int i = 0; i < 50; ++i) {
    sent.emplace_back(random.below(700), static_cast<char>('a' + i % 26));
    stream += frame(sent.back());
  }
  FrameDecoder decoder;
  std::vector<std::string> received;
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t piece = random.between(1, 900);
    ASSERT_TRUE(decoder.feed(std::string_view(stream).substr(at, piece)).has_value());
    at += piece;
    while (auto payload = decoder.next()) received.push_back(*payload);
  }
  EXPECT_EQ(received, sent);
}

TEST(FrameDecoder, ATooLongAnnouncementFailsBeforeItsBytesCome) {
  FrameDecoder decoder;
  const Result<void> fed = decoder.feed("\x7f\xff\xff\xff");
  ASSERT_FALSE(fed.has_value());
  EXPECT_EQ(fed.error().code, ErrorCode::too_large);
  EXPECT_FALSE(decoder.feed(frame("later")).has_value()) << "it stays failed";
  EXPECT_EQ(decoder.next(), std::nullopt);
}

TEST(FrameDecoder, ATooLongAnnouncementBehindAGoodFrameFailsToo) {
  FrameDecoder decoder;
  ASSERT_TRUE(decoder.feed(frame("good") + "\x7f\xff\xff\xff").has_value());
  EXPECT_EQ(decoder.next(), "good");
  EXPECT_EQ(decoder.next(), std::nullopt);
  EXPECT_FALSE(decoder.feed("x").has_value());
}

TEST(Version, TheHighestThatBothKnow) {
  EXPECT_EQ(negotiate_version(1, 9), 1u);
  const auto newer = negotiate_version(kVersionMax + 1, kVersionMax + 2);
  ASSERT_FALSE(newer.has_value());
  EXPECT_NE(newer.error().text().find("upgrade the coordinator first"), std::string::npos);
}

}  // namespace
}  // namespace rehearsal::protocol
