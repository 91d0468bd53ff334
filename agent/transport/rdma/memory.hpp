#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "agent/transport/rdma/verbs_objects.hpp"
#include "core/base/result.hpp"

namespace rehearsal::rdma {

/// A piece of memory that the NIC may read and write.
struct RegisteredPiece {
  std::byte* data = nullptr;
  std::size_t size = 0;
  std::uint32_t local_key = 0;
  std::uint32_t remote_key = 0;

  std::uint64_t address() const noexcept { return reinterpret_cast<std::uintptr_t>(data); }
};

/// Registering memory is slow and registrations are few on some devices, so memory is taken from
/// chunks that are mapped (on huge pages where there are any), populated and registered once. Never
/// given back before the arena ends.
class RegisteredArena {
 public:
  RegisteredArena(const VerbsApi& api, ibv_pd* domain) : api_(&api), domain_(domain) {}
  ~RegisteredArena();
  RegisteredArena(const RegisteredArena&) = delete;
  RegisteredArena& operator=(const RegisteredArena&) = delete;

  /// `bytes` of zeroes, aligned to a cache line. Fails where memory or the right to lock it
  /// (RLIMIT_MEMLOCK) is exhausted.
  Result<RegisteredPiece> take(std::size_t bytes);

  std::size_t bytes_registered() const noexcept { return registered_; }
  bool huge_pages() const noexcept { return huge_pages_; }

 private:
  struct Chunk {
    void* memory = nullptr;
    std::size_t size = 0;
    std::size_t used = 0;
    MemoryRegion region;
  };

  Result<void> add_chunk(std::size_t bytes);

  const VerbsApi* api_;
  ibv_pd* domain_;
  std::vector<Chunk> chunks_;
  std::size_t registered_ = 0;
  bool huge_pages_ = false;
};

}  // namespace rehearsal::rdma
