// What a start by appointment can be on this machine: sleep until 250 µs before an agreed instant,
// then spin to it. No agent, no traffic.
//
//   bare_start FIRST_INSTANT_NS INTERVAL_NS COUNT     prints a line an appointment: lateness in ns
#include <sys/prctl.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 4) return 64;
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  const long long first = std::atoll(argv[1]);
  const long long interval = std::atoll(argv[2]);
  const int count = std::atoi(argv[3]);
  constexpr long long kSpin = 250'000;
  std::vector<long long> late;
  for (int i = 0; i < count; ++i) {
    const long long instant = first + interval * i;
    const timespec until{(instant - kSpin) / 1'000'000'000, (instant - kSpin) % 1'000'000'000};
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
    long long now = 0;
    do {
      now = std::chrono::steady_clock::now().time_since_epoch().count();
    } while (now < instant);
    late.push_back(now - instant);
  }
  for (std::size_t i = 0; i < late.size(); ++i) std::printf("%zu %lld\n", i, late[i]);
  return 0;
}
