#include "agent/worker/waiter.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <utility>

namespace rehearsal::agent {

Result<Waiter> Waiter::create() {
  const int event = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (event < 0) return system_failure(ErrorSource::host, "cannot create an eventfd", errno);
  return Waiter(event);
}

Waiter::~Waiter() {
  if (event_ >= 0) ::close(event_);
}

Waiter::Waiter(Waiter&& other) noexcept : event_(std::exchange(other.event_, -1)) {}

void Waiter::wake() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_, &one, sizeof one);
}

void Waiter::wait(int file_descriptor, Instant now, Instant until) noexcept {
  if (until <= now) return;
  std::array<pollfd, 2> watched{{{.fd = event_, .events = POLLIN, .revents = 0},
                                 {.fd = file_descriptor, .events = POLLIN, .revents = 0}}};
  timespec timeout{};
  const timespec* limit = nullptr;
  if (until != kNever) {
    const auto nanoseconds = (until - now).count();
    timeout.tv_sec = nanoseconds / 1'000'000'000;
    timeout.tv_nsec = nanoseconds % 1'000'000'000;
    limit = &timeout;
  }
  if (::ppoll(watched.data(), watched.size(), limit, nullptr) > 0 && watched[0].revents != 0) {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(event_, &count, sizeof count);
  }
}

void prepare_worker_thread() noexcept {
  ::pthread_setname_np(::pthread_self(), "worker");
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

namespace {
constexpr std::size_t kPlaceBytesMax = 80;
}  // namespace

std::string bind_worker_thread(const host::WorkerPlace& place) {
  if (place.cores.empty()) return {};
  constexpr std::size_t kSets = host::kCoresMax / CPU_SETSIZE;
  cpu_set_t sets[kSets] = {};
  for (const std::uint32_t core : place.cores) CPU_SET_S(core, sizeof sets, sets);
  const int error = ::pthread_setaffinity_np(::pthread_self(), sizeof sets, sets);
  std::string cores =
      (place.cores.size() == 1 ? "core " : "cores ") + host::core_list_text(place.cores);
  // Cores that are numbered across sockets make long lists.
  if (cores.size() > kPlaceBytesMax) cores = std::to_string(place.cores.size()) + " cores";
  cores += " (" + place.why + ")";
  if (error == 0) return "worker on " + cores;
  return "worker not bound to " + cores + ": " + std::strerror(error);
}

}  // namespace rehearsal::agent
