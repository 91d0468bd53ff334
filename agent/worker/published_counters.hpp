#pragma once

#include <atomic>
#include <cstdint>

#include "agent/worker.hpp"

namespace rehearsal::agent {

/// WorkerCounters, written by the worker's thread and read by any other. Each number is right by
/// itself; together they may be a turn apart.
class PublishedCounters {
 public:
  void publish(const WorkerCounters& counters) noexcept {
    store(bytes_sent_, counters.bytes_sent);
    store(bytes_received_, counters.bytes_received);
    store(bytes_local_, counters.bytes_local);
    store(background_bytes_sent_, counters.background_bytes_sent);
    store(background_bytes_received_, counters.background_bytes_received);
    store(messages_sent_, counters.messages_sent);
    store(messages_received_, counters.messages_received);
    store(ops_done_, counters.ops_done);
    store(iterations_done_, counters.iterations_done);
    store(system_calls_, counters.system_calls);
    store(turns_, counters.turns);
    store(turn_nanoseconds_max_, counters.turn_nanoseconds_max);
  }

  WorkerCounters read() const noexcept {
    return {.bytes_sent = load(bytes_sent_),
            .bytes_received = load(bytes_received_),
            .bytes_local = load(bytes_local_),
            .background_bytes_sent = load(background_bytes_sent_),
            .background_bytes_received = load(background_bytes_received_),
            .messages_sent = load(messages_sent_),
            .messages_received = load(messages_received_),
            .ops_done = load(ops_done_),
            .iterations_done = load(iterations_done_),
            .system_calls = load(system_calls_),
            .turns = load(turns_),
            .turn_nanoseconds_max = load(turn_nanoseconds_max_)};
  }

 private:
  using Number = std::atomic<std::uint64_t>;
  static void store(Number& number, std::uint64_t value) noexcept {
    number.store(value, std::memory_order_relaxed);
  }
  static std::uint64_t load(const Number& number) noexcept {
    return number.load(std::memory_order_relaxed);
  }

  Number bytes_sent_{0};
  Number bytes_received_{0};
  Number bytes_local_{0};
  Number background_bytes_sent_{0};
  Number background_bytes_received_{0};
  Number messages_sent_{0};
  Number messages_received_{0};
  Number ops_done_{0};
  Number iterations_done_{0};
  Number system_calls_{0};
  Number turns_{0};
  Number turn_nanoseconds_max_{0};
};

}  // namespace rehearsal::agent
