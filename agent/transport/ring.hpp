#pragma once

#include <cstddef>
#include <vector>

#include "core/base/check.hpp"

namespace rehearsal::agent {

/// A bounded first-in first-out queue of one thread. Room is made in set-up; pushing into a full
/// one is a bug.
template <typename T>
class Ring {
 public:
  bool empty() const noexcept { return count_ == 0; }
  std::size_t size() const noexcept { return count_; }

  /// Makes room for `count` more than now. Allocates.
  void grow(std::size_t count) {
    std::vector<T> larger;
    larger.reserve(values_.size() + count);
    for (std::size_t i = 0; i < count_; ++i)
      larger.push_back(values_[(front_ + i) % values_.size()]);
    larger.resize(values_.size() + count);
    values_ = std::move(larger);
    front_ = 0;
  }

  void push(const T& value) noexcept {
    CHECK(count_ < values_.size(), "a bounded queue of the transport overflowed");
    std::size_t back = front_ + count_;
    if (back >= values_.size()) back -= values_.size();
    values_[back] = value;
    ++count_;
  }

  T pop() noexcept {
    CHECK(count_ > 0, "nothing to take from an empty queue");
    const T value = values_[front_];
    front_ = front_ + 1 == values_.size() ? 0 : front_ + 1;
    --count_;
    return value;
  }

 private:
  std::vector<T> values_;
  std::size_t front_ = 0;
  std::size_t count_ = 0;
};

}  // namespace rehearsal::agent
