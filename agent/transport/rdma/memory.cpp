#include "agent/transport/rdma/memory.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/units.hpp"

namespace rehearsal::rdma {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLine = 64;
/// Small requests share chunks of this size.
constexpr std::size_t kChunkMin = std::size_t{256} << 10;

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

void* map(std::size_t bytes, int more_flags) {
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | more_flags, -1, 0);
}

std::string lock_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  if (limit.rlim_cur == RLIM_INFINITY) return "unlimited";
  return format_bytes(Bytes{limit.rlim_cur});
}

}  // namespace

RegisteredArena::~RegisteredArena() {
  for (Chunk& chunk : chunks_) {
    chunk.region.reset();
    ::munmap(chunk.memory, chunk.size);
  }
}

Result<void> RegisteredArena::add_chunk(std::size_t bytes) {
  Chunk chunk;
  chunk.memory = MAP_FAILED;
  if (bytes >= kHugePage) {
    chunk.size = round_up(bytes, kHugePage);
    chunk.memory = map(chunk.size, MAP_HUGETLB);
    if (chunk.memory != MAP_FAILED) huge_pages_ = true;
  }
  if (chunk.memory == MAP_FAILED) {
    chunk.size = round_up(std::max(bytes, kChunkMin), 4096);
    chunk.memory = map(chunk.size, 0);
  }
  if (chunk.memory == MAP_FAILED) {
    return system_failure(ErrorSource::transport,
                          "cannot map " + format_bytes(Bytes{bytes}) + " of memory", errno);
  }
  ibv_mr* region = api_->reg_mr(domain_, chunk.memory, chunk.size,
                                IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  if (region == nullptr) {
    const int error = errno;
    ::munmap(chunk.memory, chunk.size);
    return system_failure(ErrorSource::transport,
                          "[REHEARSAL-RDMA-004] cannot register " +
                              format_bytes(Bytes{chunk.size}) + " with the NIC (" +
                              format_bytes(Bytes{registered_}) + " are; this process may lock " +
                              lock_limit() + " of memory)",
                          error);
  }
  chunk.region = MemoryRegion(*api_, region);
  registered_ += chunk.size;
  chunks_.push_back(std::move(chunk));
  return {};
}

Result<RegisteredPiece> RegisteredArena::take(std::size_t bytes) {
  const std::size_t size = round_up(std::max<std::size_t>(bytes, 1), kLine);
  if (chunks_.empty() || chunks_.back().size - chunks_.back().used < size) {
    RETURN_IF_ERROR(add_chunk(size));
  }
  Chunk& chunk = chunks_.back();
  RegisteredPiece piece{.data = static_cast<std::byte*>(chunk.memory) + chunk.used,
                        .size = bytes,
                        .local_key = chunk.region->lkey,
                        .remote_key = chunk.region->rkey};
  chunk.used += size;
  return piece;
}

}  // namespace rehearsal::rdma
