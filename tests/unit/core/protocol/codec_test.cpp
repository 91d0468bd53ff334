#include "core/protocol/codec.hpp"

#include <gtest/gtest.h>

#include "core/protocol/frame.hpp"

namespace rehearsal::protocol {
namespace {

TEST(Codec, WhatIsEncodedComesBack) {
  Envelope envelope;
  envelope.mutable_start_at()->set_run("e1-r1");
  envelope.mutable_start_at()->set_iteration(7);
  envelope.mutable_start_at()->set_instant_ns(-5);

  const Result<Envelope> back = decode(encode(envelope));

  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->message_case(), Envelope::kStartAt);
  EXPECT_EQ(back->start_at().run(), "e1-r1");
  EXPECT_EQ(back->start_at().iteration(), 7u);
  EXPECT_EQ(back->start_at().instant_ns(), -5);
}

TEST(Codec, AMessageWithoutFieldsIsAMessage) {
  Envelope envelope;
  envelope.mutable_heartbeat();
  EXPECT_EQ(decode(encode(envelope))->message_case(), Envelope::kHeartbeat);
}

TEST(Codec, AnEmptyPayloadIsRefused) {
  const Result<Envelope> back = decode("");
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().code, ErrorCode::protocol);
}

TEST(Codec, AMessageOfALaterVersionIsRefused) {
  // Field 500, length-delimited, empty: a message that this version has never heard of.
  const Result<Envelope> back = decode(std::string("\xa2\x1f\x00", 3));
  ASSERT_FALSE(back.has_value());
  EXPECT_NE(back.error().text().find("does not know"), std::string::npos);
}

TEST(Codec, NoiseAndTruncationAreRefused) {
  Envelope envelope;
  envelope.mutable_failed()->set_reason("connection reset by peer");
  const std::string payload = encode(envelope);
  EXPECT_FALSE(decode(payload.substr(0, payload.size() - 1)).has_value());
  EXPECT_FALSE(decode("\xff\xff\xff\xff").has_value());
}

TEST(Codec, APayloadOverTheCapIsRefusedUnread) {
  const Result<Envelope> back = decode(std::string(kFrameBytesMax + 1, '\0'));
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().code, ErrorCode::too_large);
}

TEST(Codec, NamesAreThoseOfTheProtoFile) {
  EXPECT_EQ(message_name(Envelope::kStepDone), "step_done");
  EXPECT_EQ(message_name(Envelope::MESSAGE_NOT_SET), "nothing");
}

}  // namespace
}  // namespace rehearsal::protocol
