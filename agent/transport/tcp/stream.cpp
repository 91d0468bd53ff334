#include "agent/transport/tcp/stream.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/base/check.hpp"

namespace rehearsal::tcp {
namespace {

static_assert(std::endian::native == std::endian::little, "headers are copied as they stand");

std::array<std::byte, kHeaderSize> encode(Message message) noexcept {
  std::array<std::byte, kHeaderSize> header;
  std::memcpy(header.data(), &message.sequence, 8);
  std::memcpy(header.data() + 8, &message.bytes, 8);
  return header;
}

Message decode(const std::array<std::byte, kHeaderSize>& header) noexcept {
  Message message;
  std::memcpy(&message.sequence, header.data(), 8);
  std::memcpy(&message.bytes, header.data() + 8, 8);
  return message;
}

// sendmsg() does not write through its vectors; iovec just cannot say so.
iovec vector_of(std::span<const std::byte> bytes) noexcept {
  return {.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
}

}  // namespace

void SendQueue::push(Message message) noexcept {
  CHECK(!full(), "a message was posted without a credit");
  std::size_t back = front_ + count_;
  if (back >= entries_.size()) back -= entries_.size();
  Entry& entry = entries_[back];
  entry.message = message;
  const auto header = encode(message);
  std::copy(header.begin(), header.end(), entry.head.begin());
  if (identity_) {
    constexpr std::size_t kStamp = agent::Stamp::kBytes;
    const agent::Stamp stamp(*identity_, message.sequence, message.bytes);
    std::copy(stamp.bytes().begin(), stamp.bytes().end(), entry.head.begin() + kHeaderSize);
    entry.head_size = kHeaderSize + std::min<std::size_t>(message.bytes, kStamp);
    entry.tail_size = message.bytes >= 2 * kStamp ? kStamp : 0;
  }
  ++count_;
}

SendQueue::Filled SendQueue::fill(std::span<iovec> vectors, std::span<const std::byte> payload,
                                  std::size_t bytes_max) const noexcept {
  Filled filled;
  const auto add = [&](std::span<const std::byte> bytes) {
    const auto part = bytes.first(std::min(bytes.size(), bytes_max - filled.bytes));
    vectors[filled.vectors++] = vector_of(part);
    filled.bytes += part.size();
  };
  const auto room = [&] { return filled.vectors < vectors.size() && filled.bytes < bytes_max; };

  std::uint64_t sent = front_sent_;
  for (std::size_t i = 0; i < count_ && room(); ++i, sent = 0) {
    std::size_t at = front_ + i;
    if (at >= entries_.size()) at -= entries_.size();
    const Entry& entry = entries_[at];
    const auto head = std::span(entry.head).first(entry.head_size);
    const std::uint64_t end = kHeaderSize + entry.message.bytes;
    if (sent < head.size()) add(head.subspan(sent));
    std::uint64_t done = std::max<std::uint64_t>(sent, head.size());
    while (done < end - entry.tail_size && room()) {
      const auto part =
          payload.first(std::min<std::uint64_t>(end - entry.tail_size - done, payload.size()));
      add(part);
      done += part.size();
    }
    if (done < end - entry.tail_size) break;
    if (done < end && room()) add(head.last(static_cast<std::size_t>(end - done)));
  }
  return filled;
}

bool StreamReader::parse_header() noexcept {
  message_ = decode(header_);
  if (message_.sequence != next_sequence_ || message_.bytes > message_bytes_max_) return false;
  ++next_sequence_;
  payload_remaining_ = message_.bytes;
  return true;
}

StreamReader::Taken StreamReader::take(std::span<const std::byte> input) noexcept {
  Taken taken;
  if (header_size_ < kHeaderSize) {
    const std::size_t part = std::min(kHeaderSize - header_size_, input.size());
    std::copy_n(input.begin(), part, header_.begin() + static_cast<std::ptrdiff_t>(header_size_));
    header_size_ += part;
    taken.bytes = part;
    if (header_size_ < kHeaderSize) return taken;
    if (!parse_header()) {
      taken.out_of_step = true;
      return taken;
    }
  }
  const auto payload = input.subspan(
      taken.bytes, std::min<std::uint64_t>(payload_remaining_, input.size() - taken.bytes));
  taken.damaged = identity_ && !stamps_match(payload);
  const auto rest = skip(payload.size());
  taken.bytes += rest.bytes;
  taken.payload = rest.payload;
  taken.message = rest.message;
  return taken;
}

// Of a stamp as much as lies in this part of the payload.
bool StreamReader::stamps_match(std::span<const std::byte> payload) const noexcept {
  const agent::Stamp stamp(*identity_, message_.sequence, message_.bytes);
  const std::uint64_t begin = message_.bytes - payload_remaining_;
  const std::uint64_t end = begin + payload.size();
  const auto matches_at = [&](std::uint64_t place, std::uint64_t size) {
    const std::uint64_t from = std::max(begin, place);
    const std::uint64_t to = std::min(end, place + size);
    return from >= to || std::memcmp(payload.data() + (from - begin),
                                     stamp.bytes().data() + (from - place), to - from) == 0;
  };
  constexpr std::uint64_t kStamp = agent::Stamp::kBytes;
  if (!matches_at(0, std::min(message_.bytes, kStamp))) return false;
  return message_.bytes < 2 * kStamp || matches_at(message_.bytes - kStamp, kStamp);
}

StreamReader::Taken StreamReader::skip(std::uint64_t bytes) noexcept {
  CHECK(bytes <= payload_remaining_, "only payload can be skipped");
  payload_remaining_ -= bytes;
  Taken taken{.bytes = bytes, .payload = bytes};
  if (payload_remaining_ == 0) {
    header_size_ = 0;
    taken.message = true;
  }
  return taken;
}

}  // namespace rehearsal::tcp
