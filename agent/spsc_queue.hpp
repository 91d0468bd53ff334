#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace rehearsal::agent {

/// A bounded queue from one thread to another, without a lock. Full is a return value, never a
/// wait.
template <typename T>
class SpscQueue {
 public:
  /// Room for at least `capacity` elements; all of it is allocated here.
  explicit SpscQueue(std::size_t capacity)
      : places_(std::bit_ceil(capacity)), mask_(places_.size() - 1) {}

  /// Producer only. False, and `value` untouched: full.
  bool push(T&& value) noexcept {
    const std::size_t back = back_.load(std::memory_order_relaxed);
    if (back - front_.load(std::memory_order_acquire) == places_.size()) return false;
    places_[back & mask_] = std::move(value);
    back_.store(back + 1, std::memory_order_release);
    return true;
  }

  /// Consumer only.
  std::optional<T> pop() noexcept {
    const std::size_t front = front_.load(std::memory_order_relaxed);
    if (front == back_.load(std::memory_order_acquire)) return std::nullopt;
    std::optional<T> value(std::move(places_[front & mask_]));
    front_.store(front + 1, std::memory_order_release);
    return value;
  }

  /// Consumer only.
  bool empty() const noexcept {
    return front_.load(std::memory_order_relaxed) == back_.load(std::memory_order_acquire);
  }

  /// How many more fit: exact or too few, on the producer's thread.
  std::size_t room() const noexcept {
    return places_.size() -
           (back_.load(std::memory_order_relaxed) - front_.load(std::memory_order_acquire));
  }

 private:
  static constexpr std::size_t kCacheLine = 64;

  std::vector<T> places_;
  std::size_t mask_;
  alignas(kCacheLine) std::atomic<std::size_t> front_{0};  // written by the consumer
  alignas(kCacheLine) std::atomic<std::size_t> back_{0};   // written by the producer
};

}  // namespace rehearsal::agent
