#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "agent/transport/stamp.hpp"

namespace rehearsal::tcp {

/// How messages lie in the byte stream of a connection: a header {sequence, size}, little endian,
/// then the payload. No I/O in here: a queue that says which bytes come next, and a reader that
/// takes whatever bytes have come.

inline constexpr std::size_t kHeaderSize = 16;

struct Message {
  std::uint64_t sequence = 0;
  std::uint64_t bytes = 0;  ///< payload
};

/// Messages of one connection that the kernel has not taken yet, and how much it has of the first.
class SendQueue {
 public:
  /// With an `identity` (agent::stamp_identity) each message's payload is stamped at both ends.
  explicit SendQueue(std::size_t capacity = 0, std::optional<std::uint64_t> identity = std::nullopt)
      : entries_(capacity), identity_(identity) {}

  bool empty() const noexcept { return count_ == 0; }
  bool full() const noexcept { return count_ == entries_.size(); }
  /// The queue must not be full.
  void push(Message message) noexcept;
  void clear() noexcept { count_ = 0, front_sent_ = 0; }

  /// Describes the next bytes of the stream, at most `bytes_max`, in `vectors`; payload is taken
  /// from `payload` again and again. Returns the number of vectors and of bytes.
  struct Filled {
    std::size_t vectors = 0;
    std::size_t bytes = 0;
  };
  Filled fill(std::span<iovec> vectors, std::span<const std::byte> payload,
              std::size_t bytes_max) const noexcept;

  /// The kernel took `bytes`; returns how much of it was payload. Messages that are now gone are
  /// handed to `gone(Message)`.
  template <typename Gone>
  std::uint64_t consume(std::uint64_t bytes, Gone&& gone) noexcept {
    std::uint64_t payload = 0;
    while (count_ > 0) {
      const Entry& front = entries_[front_];
      const std::uint64_t size = kHeaderSize + front.message.bytes;
      const std::uint64_t part = bytes < size - front_sent_ ? bytes : size - front_sent_;
      const std::uint64_t payload_before =
          front_sent_ > kHeaderSize ? front_sent_ - kHeaderSize : 0;
      front_sent_ += part;
      bytes -= part;
      payload += (front_sent_ > kHeaderSize ? front_sent_ - kHeaderSize : 0) - payload_before;
      if (front_sent_ < size) break;
      const Message message = front.message;
      front_ = front_ + 1 == entries_.size() ? 0 : front_ + 1;
      --count_;
      front_sent_ = 0;
      gone(message);
    }
    return payload;
  }

 private:
  struct Entry {
    Message message;
    std::array<std::byte, kHeaderSize + agent::Stamp::kBytes> head;
    std::size_t head_size = kHeaderSize;  // with the stamp, or what fits of it
    std::size_t tail_size = 0;            // of the stamp once more at the end
  };

  std::vector<Entry> entries_;  // a ring
  std::optional<std::uint64_t> identity_;
  std::size_t front_ = 0;
  std::size_t count_ = 0;
  std::uint64_t front_sent_ = 0;  // bytes of the first entry, header included
};

/// Takes the stream apart again.
class StreamReader {
 public:
  /// With an `identity` the stamps of what take() sees are checked.
  explicit StreamReader(std::uint64_t message_bytes_max = 0,
                        std::optional<std::uint64_t> identity = std::nullopt)
      : message_bytes_max_(message_bytes_max), identity_(identity) {}

  struct Taken {
    std::size_t bytes = 0;     ///< taken from the input
    std::size_t payload = 0;   ///< of those, payload
    bool message = false;      ///< a message is complete: message()
    bool out_of_step = false;  ///< the header cannot be right; the connection is unusable
    bool damaged = false;      ///< a stamp is not what the sender wrote
  };
  /// Takes bytes up to the end of one message at most.
  Taken take(std::span<const std::byte> input) noexcept;
  /// As if `bytes` of payload had been taken; at most payload_remaining().
  Taken skip(std::uint64_t bytes) noexcept;

  /// Payload of the message being read that is still to come; zero between messages.
  std::uint64_t payload_remaining() const noexcept { return payload_remaining_; }
  bool between_messages() const noexcept { return header_size_ == 0; }
  /// The message that was completed last.
  Message message() const noexcept { return message_; }

 private:
  bool parse_header() noexcept;
  bool stamps_match(std::span<const std::byte> payload) const noexcept;

  std::uint64_t message_bytes_max_;
  std::optional<std::uint64_t> identity_;
  std::uint64_t next_sequence_ = 0;
  std::uint64_t payload_remaining_ = 0;
  std::size_t header_size_ = 0;  // bytes of the header that are here
  std::array<std::byte, kHeaderSize> header_{};
  Message message_;
};

}  // namespace rehearsal::tcp
