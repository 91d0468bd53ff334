// One of two processes that exchange messages over the RDMA transport: for scripts/bench, in the
// virtual machine of scripts/rdma-vm.
//   rdma_pair write-bw|send-lat SIDE FOLDER BYTES COUNT [poll]
// Completions come by events, so that neither side keeps the other from the one processor of a
// guest in virtual time; or they are polled, and who finds none yields. write-bw: one batch after
// the other, as credits come back. send-lat: one message there and one back, credits given back in
// batches between measured times. Side 0 is on the device rd1, side 1 on rd2; addresses are
// exchanged as files in FOLDER. Side 0 prints MiB/s of payload (write-bw), or half of the median
// round trip in µs (send-lat). Neither waits for ever, and neither leaves before the other is done.

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "agent/transport/rdma/rdma_transport.hpp"
#include "core/base/units.hpp"

namespace rehearsal {
namespace {

namespace fs = std::filesystem;
using replay::Completion;
using replay::Request;

constexpr std::uint32_t kCredits = 64;
constexpr int kWarmUp = 20;
constexpr std::uint64_t kReleaseEvery = 32;
static_assert(kReleaseEvery < kCredits);
constexpr Duration kGreetingLimit = std::chrono::seconds{50};  // beside much else on the machine
/// Without anything that comes; the transport's own words about its greeting come before.
constexpr Duration kPatience = std::chrono::seconds{55};

Instant now() { return std::chrono::steady_clock::now(); }

[[noreturn]] void leave(const std::string& why) {
  std::fprintf(stderr, "rdma_pair: %s\n", why.c_str());
  std::exit(1);
}

[[noreturn]] void leave_waiting(const std::string& what) {
  leave("waited " + format_duration(kPatience) + " for " + what);
}

template <typename T>
T must(Result<T> result) {
  if (!result) leave(result.error().text());
  return std::move(*result);
}

void put(const fs::path& path, const std::string& text) {
  std::ofstream(path.string() + ".part", std::ios::binary) << text;
  fs::rename(path.string() + ".part", path);
}

std::string get(const fs::path& path) {
  const Instant limit = now() + kPatience;
  while (!fs::exists(path)) {
    if (now() > limit) leave_waiting("the file " + path.string());
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// One end: connection 0 leads from side 0 to side 1, connection 1 back.
class End {
 public:
  End(std::uint32_t side, const fs::path& folder, std::uint64_t bytes, bool sends, bool polls)
      : side_(side), folder_(folder), bytes_(bytes), polls_(polls) {
    const std::string number = std::to_string(side + 1);
    rdma::RdmaOptions options{.verbs = must(rdma::load_verbs()), .nics = {}, .token = "bench"};
    options.nics.emplace_back(
        rdma::RdmaNic{.device = "rd" + number, .gid = {.address = "10.0.0." + number}});
    options.settings.completions = polls ? plan::CompletionMode::poll : plan::CompletionMode::event;
    options.settings.ack_timeout = 18;
    options.settings.retry_count = 6;
    options.greeting_limit = kGreetingLimit;
    if (sends) options.settings.operation = plan::RdmaOperation::send;
    transport_ = must(rdma::RdmaTransport::create(std::move(options)));
    put(name(side, "offer"), must(transport_->offer(spec(side))));
    put(name(1 - side, "open"), must(transport_->open(spec(1 - side))));
    check(transport_->accept(spec(1 - side), get(name(1 - side, "offer"))));
    check(transport_->connect(spec(side), get(name(side, "open"))));
    turn_until("both connections", [&] { return connected_ == 2; });
  }

  void send() {
    turn_until("a credit", [&] { return credits_ > 0; });
    const Request request{
        .connection = ConnectionIndex{side_}, .sequence = next_send_, .bytes = bytes_};
    post(request);
    ++next_send_;
    --credits_;
  }
  /// As many as there are credits for, at most `most`, in one batch.
  std::size_t send_batch(std::size_t most) {
    std::array<Request, kCredits> requests;
    const std::size_t count = std::min<std::size_t>(most, credits_);
    for (std::size_t i = 0; i < count; ++i)
      requests[i] = {
          .connection = ConnectionIndex{side_}, .sequence = next_send_ + i, .bytes = bytes_};
    const std::size_t taken = transport_->post(std::span(requests).first(count), now());
    next_send_ += taken;
    credits_ -= static_cast<std::uint32_t>(taken);
    return taken;
  }
  void receive() {
    turn_until("a message", [&] { return received_ > consumed_; });
    release();
  }
  void release() {
    const Request request{.kind = Request::Kind::release,
                          .connection = ConnectionIndex{1 - side_},
                          .sequence = consumed_++};
    post(request);
  }
  /// `what`: words for who has waited too long.
  template <typename Done>
  void turn_until(const char* what, Done&& done) {
    Instant since = kNever;
    while (!done()) {
      if (turn() || since == kNever) since = turned_;
      if (turned_ - since > kPatience) leave_waiting(what);
    }
  }
  /// True if anything came.
  bool turn() {
    std::array<Completion, 64> batch;
    turned_ = now();
    const std::size_t count = transport_->poll(batch, turned_);
    if (count == 0) wait();
    for (std::size_t i = 0; i < count; ++i) {
      switch (batch[i].kind) {
        case Completion::Kind::connected:
          ++connected_;
          break;
        case Completion::Kind::sent:
          ++sent_;
          break;
        case Completion::Kind::credit:
          ++credits_;
          break;
        case Completion::Kind::received:
          ++received_;
          break;
        case Completion::Kind::failed:
          leave(std::string(batch[i].reason));
      }
    }
    return count > 0;
  }

  void await_sent() {
    turn_until("what was sent to be acknowledged", [&] { return sent_ == next_send_; });
  }
  /// Who leaves takes its queue pairs with it: not while the other end waits for anything of them.
  void leave_together() {
    await_sent();
    put(name(side_, "done"), "");
    const fs::path other = name(1 - side_, "done");
    turn_until("the other side to be done", [&] { return fs::exists(other); });
  }
  std::uint64_t received() const { return received_; }
  void release_all() {
    while (consumed_ < received_) release();
  }
  bool has_all_credits() const { return credits_ == kCredits; }

 private:
  fs::path name(std::uint32_t of, const char* what) const {
    return folder_ / (std::string(what) + std::to_string(of));
  }
  void post(const Request& request) {
    turn_until("room for a request", [&] { return transport_->post({&request, 1}, now()) == 1; });
  }
  void wait() {
    if (polls_) return std::this_thread::yield();
    const replay::Wakeup wakeup = transport_->wakeup();
    const auto left = std::clamp<Duration>(wakeup.deadline - now(), Duration::zero(),
                                           std::chrono::milliseconds{100});
    pollfd watched{.fd = wakeup.file_descriptor, .events = POLLIN, .revents = 0};
    ::poll(
        &watched, 1,
        static_cast<int>((left + std::chrono::microseconds{999}) / std::chrono::milliseconds{1}));
  }
  static void check(const Result<void>& done) {
    if (!done) leave(done.error().text());
  }
  replay::ConnectionSpec spec(std::uint32_t connection) const {
    return {.index = ConnectionIndex{connection},
            .key = {.job = {},
                    .communicator = {},
                    .source = Rank{connection},
                    .destination = Rank{1 - connection}},
            .nic = {},
            .credits = kCredits,
            .message_bytes_max = bytes_};
  }

  std::uint32_t side_;
  fs::path folder_;
  std::uint64_t bytes_;
  bool polls_;
  std::unique_ptr<rdma::RdmaTransport> transport_;
  Instant turned_{};
  int connected_ = 0;
  std::uint32_t credits_ = kCredits;
  std::uint64_t next_send_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t consumed_ = 0;
};

void bandwidth(End& end, std::uint32_t side, std::uint64_t bytes, std::uint64_t count) {
  if (side == 1) {
    for (std::uint64_t i = 0; i < count + 1; ++i) end.receive();
    end.send();  // so that the other side's last credits need no more of us
    return;
  }
  end.send();
  end.await_sent();
  const Instant begin = now();
  std::uint64_t posted = 0;
  end.turn_until("credits for the rest", [&] {
    posted += end.send_batch(count - posted);
    return posted == count;
  });
  end.await_sent();
  const double seconds = std::chrono::duration<double>(now() - begin).count();
  std::printf("%.3f\n", static_cast<double>(count * bytes) / (1 << 20) / seconds);
  end.receive();
}

void latency(End& end, std::uint32_t side, std::uint64_t count) {
  std::vector<double> halves;
  for (std::uint64_t i = 0; i < count + kWarmUp; ++i) {
    const Instant begin = now();
    if (side == 0) end.send();
    end.turn_until("the other side's message", [&] { return end.received() > i; });
    if (side == 0 && i >= kWarmUp)
      halves.push_back(std::chrono::duration<double, std::micro>(now() - begin).count() / 2);
    if (side == 1) end.send();
    // Between measured times, and all at once.
    if (i % kReleaseEvery == kReleaseEvery - 1 || i + 1 == count + kWarmUp) {
      end.release_all();
      if (side == 0) end.turn_until("all credits", [&] { return end.has_all_credits(); });
    }
  }
  if (side == 1) return;
  std::ranges::nth_element(halves, halves.begin() + static_cast<std::ptrdiff_t>(halves.size() / 2));
  std::printf("%.3f\n", halves[halves.size() / 2]);
}

}  // namespace
}  // namespace rehearsal

int main(int argc, char** argv) {
  const bool polls = argc == 7 && std::string(argv[6]) == "poll";
  if (argc != 6 && !polls) {
    std::fprintf(stderr, "usage: rdma_pair write-bw|send-lat SIDE FOLDER BYTES COUNT [poll]\n");
    return 64;
  }
  const bool sends = std::string(argv[1]) == "send-lat";
  const auto side = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
  const std::uint64_t bytes = std::strtoull(argv[4], nullptr, 10);
  const std::uint64_t count = std::strtoull(argv[5], nullptr, 10);
  rehearsal::End end(side, argv[3], bytes, sends, polls);
  if (sends)
    rehearsal::latency(end, side, count);
  else
    rehearsal::bandwidth(end, side, bytes, count);
  std::fflush(stdout);
  end.leave_together();
  return 0;
}
