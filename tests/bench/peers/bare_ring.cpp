// A ring all_reduce of plain sockets: one loop around poll(), no plan, no measurement, no
// transport. It moves the same messages in the same order as ours (per channel: chunks of 2 MiB in
// 2 slices, 2(n − 1) steps a loop, a slice is passed on once its predecessor has come in) and
// reduces nothing.
//
//   bare_ring RANK ADDRESS,ADDRESS,… PORT BYTES ITERATIONS WARM_UP copy|discard CONGESTION_CONTROL
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kChannels = 2;
constexpr std::uint64_t kSlice = 1U << 20;
constexpr std::uint64_t kSlicesPerChunk = 2;
constexpr std::size_t kMemory = 256U << 10;

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::exit(1);
}

sockaddr_in endpoint(const std::string& address, int port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::inet_pton(AF_INET, address.c_str(), &result.sin_addr) != 1) give_up("address");
  return result;
}

int make_socket(const std::string& congestion_control) {
  const int one = 1;
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, congestion_control.data(),
                   static_cast<socklen_t>(congestion_control.size())) != 0)
    give_up("congestion control");
  return socket;
}

struct Channel {
  int right = -1;
  int left = -1;
  std::uint64_t sent = 0;      // bytes, over all iterations
  std::uint64_t received = 0;  // bytes
};

/// Bytes of the stream that may have been sent when `received` bytes have come in.
std::uint64_t may_send(std::uint64_t received, std::uint64_t per_loop) {
  const std::uint64_t slices = received / kSlice;
  std::uint64_t limit = slices + kSlicesPerChunk;
  // A loop starts with own data: it does not wait for what comes in, but for its predecessor.
  const std::uint64_t loop = slices / per_loop;
  limit = std::max(limit, loop * per_loop + kSlicesPerChunk);
  return std::min(limit, (loop + 1) * per_loop + kSlicesPerChunk) * kSlice;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 9) return 64;
  const int rank = std::atoi(argv[1]);
  std::vector<std::string> addresses;
  std::stringstream list(argv[2]);
  for (std::string one; std::getline(list, one, ',');) addresses.push_back(one);
  const int ranks = static_cast<int>(addresses.size());
  const int port = std::atoi(argv[3]);
  const std::uint64_t bytes = std::strtoull(argv[4], nullptr, 10);
  const int iterations = std::atoi(argv[5]);
  const int warm_up = std::atoi(argv[6]);
  const bool discard = std::string(argv[7]) == "discard";
  const std::string congestion_control = argv[8];

  auto* memory = static_cast<char*>(::mmap(nullptr, kMemory, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
  const int listener = make_socket(congestion_control);
  const sockaddr_in own = endpoint(addresses[static_cast<std::size_t>(rank)], port);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) give_up("bind");
  ::listen(listener, kChannels);
  std::vector<Channel> channels(kChannels);
  const sockaddr_in right = endpoint(addresses[static_cast<std::size_t>((rank + 1) % ranks)], port);
  for (Channel& channel : channels) {
    channel.right = make_socket(congestion_control);
    while (::connect(channel.right, reinterpret_cast<const sockaddr*>(&right), sizeof right) != 0) {
      ::close(channel.right);
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
      channel.right = make_socket(congestion_control);
    }
  }
  for (Channel& channel : channels) {
    channel.left = ::accept(listener, nullptr, nullptr);
    ::fcntl(channel.left, F_SETFL, O_NONBLOCK);
    ::fcntl(channel.right, F_SETFL, O_NONBLOCK);
  }

  const auto steps = static_cast<std::uint64_t>(2 * (ranks - 1));
  const std::uint64_t per_loop = steps * kSlicesPerChunk;
  const std::uint64_t per_iteration = bytes / static_cast<std::uint64_t>(ranks) / kChannels * steps;
  std::uint64_t calls = 0;
  auto started = std::chrono::steady_clock::now();
  for (int iteration = 0; iteration < warm_up + iterations; ++iteration) {
    if (iteration == warm_up) started = std::chrono::steady_clock::now();
    const std::uint64_t end = per_iteration * static_cast<std::uint64_t>(iteration + 1);
    while (true) {
      bool done = true;
      std::vector<pollfd> watched;
      for (Channel& channel : channels) {
        const bool sends = channel.sent < std::min(end, may_send(channel.received, per_loop));
        const bool receives = channel.received < end;
        done = done && channel.sent == end && channel.received == end;
        watched.push_back({channel.right, static_cast<short>(sends ? POLLOUT : 0), 0});
        watched.push_back({channel.left, static_cast<short>(receives ? POLLIN : 0), 0});
      }
      if (done) break;
      ++calls;
      if (::poll(watched.data(), watched.size(), 30'000) <= 0) give_up("poll");
      for (std::size_t i = 0; i < channels.size(); ++i) {
        Channel& channel = channels[i];
        if ((watched[2 * i + 1].revents & POLLIN) != 0) {
          ++calls;
          const auto wanted =
              std::min<std::uint64_t>(end - channel.received, discard ? kSlice : kMemory);
          const auto got = ::recv(channel.left, memory, wanted, discard ? MSG_TRUNC : 0);
          if (got == 0 || (got < 0 && errno != EAGAIN)) give_up("recv");
          if (got > 0) channel.received += static_cast<std::uint64_t>(got);
        }
        const auto limit = std::min(end, may_send(channel.received, per_loop));
        if ((watched[2 * i].revents & POLLOUT) != 0 && channel.sent < limit) {
          ++calls;
          const auto sent =
              ::send(channel.right, memory, std::min<std::uint64_t>(limit - channel.sent, kMemory),
                     MSG_NOSIGNAL);
          if (sent < 0 && errno != EAGAIN) give_up("send");
          if (sent > 0) channel.sent += static_cast<std::uint64_t>(sent);
        }
      }
    }
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - started;
  // Leave together: who closes early resets its neighbour.
  for (Channel& channel : channels) ::shutdown(channel.right, SHUT_WR);
  for (Channel& channel : channels) {
    ::fcntl(channel.left, F_SETFL, 0);
    while (::recv(channel.left, memory, 1, 0) > 0) {
    }
  }
  const double mib =
      static_cast<double>(2 * kChannels * per_iteration) * (iterations + warm_up) / (1U << 20);
  if (rank == 0)
    std::printf("{\"seconds\": %.9f, \"system_calls_per_mib\": %.3f}\n", taken.count() / iterations,
                static_cast<double>(calls) / mib);
  return 0;
}
