/* Prints the frequency of this machine's time stamp counter in kHz: a guest under software emulation
 * reads the same counter and cannot calibrate it reliably on a busy host. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

static uint64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The counter and the clock at one moment: of many pairs the one that was read fastest. */
static void read_pair(uint64_t* ticks, uint64_t* time) {
  uint64_t best = ~(uint64_t)0;
  for (int i = 0; i < 200; i++) {
    const uint64_t before = __rdtsc();
    const uint64_t now = nanoseconds();
    const uint64_t after = __rdtsc();
    if (after - before >= best) continue;
    best = after - before;
    *ticks = before / 2 + after / 2;
    *time = now;
  }
}

int main(void) {
  uint64_t ticks[2], time[2];
  read_pair(&ticks[0], &time[0]);
  const struct timespec pause = {0, 300000000};
  nanosleep(&pause, 0);
  read_pair(&ticks[1], &time[1]);
  printf("%.0f\n", (double)(ticks[1] - ticks[0]) / (double)(time[1] - time[0]) * 1e6);
  return 0;
}
