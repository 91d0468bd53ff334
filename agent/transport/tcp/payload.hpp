#pragma once

#include <cstddef>
#include <span>

#include "core/base/result.hpp"

namespace rehearsal::tcp {

/// Memory that is mapped and populated once, so that the data path never takes a page fault (a
/// fault costs tens of microseconds on some virtual machines).
class PopulatedMemory {
 public:
  /// `bytes` of zeroes, writable.
  static Result<PopulatedMemory> scratch(std::size_t bytes);
  /// `bytes` of fixed pseudo-random content (it does not compress), read-only from then on.
  static Result<PopulatedMemory> payload(std::size_t bytes);

  ~PopulatedMemory();
  PopulatedMemory(PopulatedMemory&& other) noexcept;
  PopulatedMemory& operator=(PopulatedMemory&& other) noexcept;

  std::span<std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  PopulatedMemory(std::byte* data, std::size_t size) : data_(data), size_(size) {}

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace rehearsal::tcp
