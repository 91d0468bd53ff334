#include "core/base/encoding.hpp"

#include <gmock/gmock.h>

namespace rehearsal {
namespace {

using testing::HasSubstr;

TEST(Encoding, ReadsBackWhatWasWritten) {
  Encoder encoder;
  encoder.number(0);
  encoder.number(300);
  encoder.number(~0ULL);
  encoder.text("all_reduce");
  Decoder decoder(encoder.bytes());
  EXPECT_EQ(*decoder.number(), 0U);
  EXPECT_EQ(*decoder.number(), 300U);
  EXPECT_EQ(*decoder.number(), ~0ULL);
  EXPECT_EQ(*decoder.text(100), "all_reduce");
  EXPECT_EQ(decoder.remaining(), 0U);
}

TEST(Decoder, TruncatedInputIsAnErrorWithItsPlace) {
  Encoder encoder;
  encoder.text("all_reduce");
  for (std::size_t size = 0; size < encoder.bytes().size(); ++size) {
    Decoder decoder(std::string_view(encoder.bytes()).substr(0, size));
    EXPECT_THAT(decoder.text(100).error().message, HasSubstr("truncated"));
  }
}

TEST(Decoder, RefusesWhatCannotBe) {
  EXPECT_FALSE(Decoder("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f").number());
  Encoder encoder;
  encoder.number(1'000'000);
  EXPECT_THAT(Decoder(encoder.bytes()).count(1, "ops").error().message, HasSubstr("ops: 1000000"));
  EXPECT_FALSE(Decoder(encoder.bytes()).text(1000));
  EXPECT_FALSE(Decoder(encoder.bytes()).number_up_to(10, "a stream"));
}

TEST(Sha256, KnownValues) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace rehearsal
