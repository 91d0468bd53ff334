#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "core/base/check.hpp"
#include "core/replay/transport.hpp"

namespace rehearsal::replay {

/// Requests in order, as one span to offer to a transport. Holds up to `capacity`; never allocates
/// after construction.
class RequestQueue {
 public:
  // Twice the room: the queue moves to the front only after it has gone through half of it.
  explicit RequestQueue(std::size_t capacity) : requests_(2 * capacity + 1) {}

  void push(const Request& request) noexcept {
    if (end_ == requests_.size()) {
      CHECK(begin_ > 0, "more requests than credits allow");
      std::copy(requests_.begin() + static_cast<std::ptrdiff_t>(begin_), requests_.end(),
                requests_.begin());
      end_ -= begin_;
      begin_ = 0;
    }
    requests_[end_++] = request;
  }
  std::span<const Request> all() const noexcept {
    return {requests_.data() + begin_, end_ - begin_};
  }
  void pop(std::size_t count) noexcept {
    CHECK(count <= end_ - begin_, "more requests accepted than offered");
    begin_ += count;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  void clear() noexcept { begin_ = end_ = 0; }

 private:
  std::vector<Request> requests_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

/// A first-in first-out queue of a capacity stated at construction.
template <typename T>
class FixedQueue {
 public:
  explicit FixedQueue(std::size_t capacity) : items_(capacity + 1) {}

  bool empty() const noexcept { return begin_ == end_; }
  void push(const T& item) noexcept {
    items_[end_] = item;
    end_ = end_ + 1 == items_.size() ? 0 : end_ + 1;
    CHECK(end_ != begin_, "a queue over its capacity");
  }
  T pop() noexcept {
    const T item = items_[begin_];
    begin_ = begin_ + 1 == items_.size() ? 0 : begin_ + 1;
    return item;
  }
  void clear() noexcept { begin_ = end_ = 0; }

 private:
  std::vector<T> items_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace rehearsal::replay
