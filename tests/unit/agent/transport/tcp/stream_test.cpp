#include "agent/transport/tcp/stream.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/base/random.hpp"

namespace rehearsal::tcp {
namespace {

std::vector<std::byte> gather(std::span<const iovec> vectors) {
  std::vector<std::byte> bytes;
  for (const iovec& vector : vectors) {
    const auto* data = static_cast<const std::byte*>(vector.iov_base);
    bytes.insert(bytes.end(), data, data + vector.iov_len);
  }
  return bytes;
}

TEST(SendQueueTest, DescribesHeaderAndPayloadOverAndOverFromASmallBuffer) {
  const std::vector<std::byte> payload(10, std::byte{7});
  SendQueue queue(4);
  queue.push({.sequence = 0, .bytes = 25});
  std::array<iovec, 16> vectors{};
  const auto filled = queue.fill(vectors, payload, 1000);
  EXPECT_EQ(filled.bytes, kHeaderSize + 25);
  EXPECT_EQ(filled.vectors, 4U);  // header, 10, 10, 5
}

TEST(SendQueueTest, StopsAtTheByteLimitAndAtTheVectorLimit) {
  const std::vector<std::byte> payload(10, std::byte{7});
  SendQueue queue(4);
  queue.push({.sequence = 0, .bytes = 25});
  queue.push({.sequence = 1, .bytes = 25});
  std::array<iovec, 16> vectors{};
  EXPECT_EQ(queue.fill(vectors, payload, 20).bytes, 20U);
  EXPECT_EQ(queue.fill(std::span(vectors).first(2), payload, 1000).bytes, kHeaderSize + 10);
}

TEST(SendQueueTest, CountsPayloadApartFromHeaders) {
  SendQueue queue(4);
  queue.push({.sequence = 5, .bytes = 100});
  queue.push({.sequence = 6, .bytes = 0});
  std::vector<std::uint64_t> gone;
  const auto note = [&](Message message) { gone.push_back(message.sequence); };
  EXPECT_EQ(queue.consume(10, note), 0U);
  EXPECT_EQ(queue.consume(10, note), 4U);
  EXPECT_THAT(gone, testing::IsEmpty());
  EXPECT_EQ(queue.consume(96 + 15, note), 96U);
  EXPECT_THAT(gone, testing::ElementsAre(5U));
  EXPECT_EQ(queue.consume(1, note), 0U);
  EXPECT_THAT(gone, testing::ElementsAre(5U, 6U));
  EXPECT_TRUE(queue.empty());
}

TEST(StreamTest, WhatTheQueueSaysTheReaderReadsHoweverTheBytesAreCut) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const std::vector<std::byte> payload(64, std::byte{0x55});
  SendQueue queue(8);
  StreamReader reader(1000);
  std::uint64_t next = 0;
  std::vector<std::uint64_t> sizes;
  std::vector<std::uint64_t> received;
  while (received.size() < 500) {
    while (!queue.full() && sizes.size() < 500) {
      sizes.push_back(random.chance(0.2) ? 0 : random.below(1000));
      queue.push({.sequence = next++, .bytes = sizes.back()});
    }
    std::array<iovec, 9> vectors{};
    const auto filled = queue.fill(vectors, payload, random.between(1, 3000));
    auto bytes = gather(std::span(vectors).first(filled.vectors));
    bytes.resize(random.between(1, bytes.size()));
    queue.consume(bytes.size(), [](Message) {});
    std::span<const std::byte> rest = bytes;
    while (!rest.empty()) {
      const auto taken = reader.take(rest.first(random.between(1, rest.size())));
      ASSERT_FALSE(taken.out_of_step);
      ASSERT_GT(taken.bytes, 0U);
      if (taken.message) received.push_back(reader.message().bytes);
      rest = rest.subspan(taken.bytes);
    }
  }
  EXPECT_EQ(received, sizes);
}

TEST(StreamReaderTest, RefusesASequenceOutOfOrderAndAMessageOverTheLimit) {
  const auto header = [](std::uint64_t sequence, std::uint64_t bytes) {
    std::array<std::byte, kHeaderSize> raw{};
    std::memcpy(raw.data(), &sequence, 8);
    std::memcpy(raw.data() + 8, &bytes, 8);
    return raw;
  };
  EXPECT_TRUE(StreamReader(10).take(header(1, 0)).out_of_step);
  EXPECT_TRUE(StreamReader(10).take(header(0, 11)).out_of_step);
  EXPECT_FALSE(StreamReader(10).take(header(0, 10)).out_of_step);
}

/// What a queue of stamped messages puts on the wire, `step` bytes a call.
std::vector<std::byte> stamped_stream(std::span<const std::uint64_t> sizes, std::size_t step) {
  const std::vector<std::byte> payload(100, std::byte{7});
  SendQueue queue(sizes.size(), 4711);
  for (std::size_t i = 0; i < sizes.size(); ++i) queue.push({.sequence = i, .bytes = sizes[i]});
  std::vector<std::byte> stream;
  while (!queue.empty()) {
    std::array<iovec, 16> vectors{};
    const auto filled = queue.fill(vectors, payload, step);
    const auto bytes = gather(std::span(vectors).first(filled.vectors));
    EXPECT_EQ(bytes.size(), filled.bytes);
    stream.insert(stream.end(), bytes.begin(), bytes.end());
    queue.consume(filled.bytes, [](Message) {});
  }
  return stream;
}

/// Messages that a reader takes from the stream, `step` bytes a call; −1 where it finds damage.
int read_stamped(std::span<const std::byte> stream, std::size_t step) {
  StreamReader reader(1 << 20, 4711);
  int messages = 0;
  while (!stream.empty()) {
    const auto taken = reader.take(stream.first(std::min(step, stream.size())));
    if (taken.damaged || taken.out_of_step) return -1;
    if (taken.message) ++messages;
    stream = stream.subspan(taken.bytes);
  }
  return messages;
}

TEST(StampedStreamTest, IsReadInWhateverPartsItComes) {
  const std::vector<std::uint64_t> sizes = {0, 1, 31, 32, 33, 63, 64, 65, 96, 1000, 5000};
  const auto whole = stamped_stream(sizes, 1 << 20);
  for (const std::size_t step : {1UL, 7UL, 31UL, 64UL, 777UL, 100'000UL}) {
    SCOPED_TRACE(step);
    EXPECT_EQ(stamped_stream(sizes, step), whole);
    EXPECT_EQ(read_stamped(whole, step), static_cast<int>(sizes.size()));
  }
}

TEST(StampedStreamTest, AChangeInAStampIsFound) {
  const std::vector<std::uint64_t> sizes = {200};
  for (const std::size_t place : {0UL, 31UL, 168UL, 199UL}) {
    auto stream = stamped_stream(sizes, 1 << 20);
    stream[kHeaderSize + place] ^= std::byte{1};
    for (const std::size_t step : {1UL, 50UL, 1000UL}) EXPECT_EQ(read_stamped(stream, step), -1);
  }
  auto between = stamped_stream(sizes, 1 << 20);
  between[kHeaderSize + 100] ^= std::byte{1};
  EXPECT_EQ(read_stamped(between, 1000), 1) << "what is between the stamps is not looked at";
}

}  // namespace
}  // namespace rehearsal::tcp
