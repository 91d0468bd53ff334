#include "agent/transport/tcp/payload.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/random.hpp"

namespace rehearsal::tcp {
namespace {

Result<std::byte*> map(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return system_failure(ErrorSource::transport,
                          "cannot map " + std::to_string(bytes) + " bytes of memory", errno);
  // Both are hints: without huge pages or MADV_POPULATE_WRITE the writing that follows populates.
  ::madvise(memory, bytes, MADV_HUGEPAGE);
  ::madvise(memory, bytes, MADV_POPULATE_WRITE);
  return static_cast<std::byte*>(memory);
}

}  // namespace

Result<PopulatedMemory> PopulatedMemory::scratch(std::size_t bytes) {
  ASSIGN_OR_RETURN(std::byte * data, map(bytes));
  std::memset(data, 0, bytes);
  return PopulatedMemory(data, bytes);
}

Result<PopulatedMemory> PopulatedMemory::payload(std::size_t bytes) {
  ASSIGN_OR_RETURN(std::byte * data, map(bytes));
  PopulatedMemory memory(data, bytes);
  Random random(0x5eed);
  for (std::size_t i = 0; i < bytes; i += sizeof(std::uint64_t)) {
    const std::uint64_t word = random.next();
    std::memcpy(data + i, &word, std::min(sizeof word, bytes - i));
  }
  if (::mprotect(data, bytes, PROT_READ) != 0)
    return system_failure(ErrorSource::transport, "cannot protect the payload buffer", errno);
  return memory;
}

PopulatedMemory::~PopulatedMemory() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

PopulatedMemory::PopulatedMemory(PopulatedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

PopulatedMemory& PopulatedMemory::operator=(PopulatedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace rehearsal::tcp
