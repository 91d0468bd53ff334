// What a start by appointment can be on this machine: sleep until 250 µs before an agreed instant,
// spin to it, then either send a first message to the ring neighbour and receive one, or do
// nothing. No agent, no plan, no measurement.
//
//   bare_start RANK ADDRESS,ADDRESS,… PORT CONGESTION_CONTROL FIRST_INSTANT_NS INTERVAL_NS COUNT
//              sends|silent
//
// Prints a line an appointment: its number and how late it was kept, in nanoseconds.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr long long kSpin = 250'000;
constexpr std::size_t kMessage = 256 + 16;

sockaddr_in endpoint(const std::string& address, int port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, address.c_str(), &result.sin_addr);
  return result;
}

int make_socket(const std::string& congestion_control) {
  const int one = 1;
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  ::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, congestion_control.data(),
               static_cast<socklen_t>(congestion_control.size()));
  return socket;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 9) return 64;
  const auto rank = static_cast<std::size_t>(std::atoi(argv[1]));
  std::vector<std::string> addresses;
  std::stringstream list(argv[2]);
  for (std::string one; std::getline(list, one, ',');) addresses.push_back(one);
  const int port = std::atoi(argv[3]);
  const std::string congestion_control = argv[4];
  const long long first = std::atoll(argv[5]);
  const long long interval = std::atoll(argv[6]);
  const int count = std::atoi(argv[7]);
  const bool sends = std::string(argv[8]) == "sends";

  const int listener = make_socket(congestion_control);
  const sockaddr_in own = endpoint(addresses[rank], port);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) return 1;
  ::listen(listener, 1);
  const sockaddr_in right = endpoint(addresses[(rank + 1) % addresses.size()], port);
  int sender = make_socket(congestion_control);
  while (::connect(sender, reinterpret_cast<const sockaddr*>(&right), sizeof right) != 0) {
    ::close(sender);
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
    sender = make_socket(congestion_control);
  }
  const int receiver = ::accept(listener, nullptr, nullptr);

  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  std::array<char, 4096> message{};
  std::vector<long long> late;
  for (int i = 0; i < count; ++i) {
    const long long instant = first + interval * i;
    const timespec until{(instant - kSpin) / 1'000'000'000, (instant - kSpin) % 1'000'000'000};
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
    long long now = 0;
    do {
      now = std::chrono::steady_clock::now().time_since_epoch().count();
    } while (now < instant);
    if (sends && ::send(sender, message.data(), kMessage, MSG_NOSIGNAL) < 0) return 1;
    late.push_back(now - instant);
    if (sends && ::recv(receiver, message.data(), message.size(), 0) <= 0) return 1;
  }
  for (std::size_t i = 0; i < late.size(); ++i) std::printf("%zu %lld\n", i, late[i]);
  // Leave together: who closes early resets its neighbour.
  ::shutdown(sender, SHUT_WR);
  while (::recv(receiver, message.data(), message.size(), 0) > 0) {
  }
  return 0;
}
