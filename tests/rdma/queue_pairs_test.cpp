// The transport by itself over Soft-RoCE: what no run of the real programs comes to, and what the
// data path asks of the system.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdarg>

#include "agent/transport/rdma/rdma_transport.hpp"

namespace {

thread_local std::uint64_t calls = 0;

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// The program's own come before the C library's, also for libraries that are loaded later.
extern "C" ssize_t write(int descriptor, const void* data, std::size_t size) {
  static const auto real = next<ssize_t (*)(int, const void*, std::size_t)>("write");
  ++calls;
  return real(descriptor, data, size);
}
extern "C" ssize_t read(int descriptor, void* data, std::size_t size) {
  static const auto real = next<ssize_t (*)(int, void*, std::size_t)>("read");
  ++calls;
  return real(descriptor, data, size);
}
extern "C" int ioctl(int descriptor, unsigned long request, ...) noexcept {
  static const auto real = next<int (*)(int, unsigned long, ...)>("ioctl");
  std::va_list arguments;
  va_start(arguments, request);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  ++calls;
  return real(descriptor, request, argument);
}

namespace rehearsal::test {
namespace {

using namespace std::chrono_literals;
using replay::Completion;
using replay::Request;
using testing::HasSubstr;

constexpr std::uint32_t kCredits = 16;
constexpr Duration kPatience = 30s;

int (*real_post_recv)(ibv_qp*, ibv_recv_wr*, ibv_recv_wr**) = nullptr;

/// A receiver that posts nothing, as one that stands still.
int swallow_receives(ibv_qp* pair, ibv_recv_wr* request, ibv_recv_wr** bad) {
  return pair->qp_type == IBV_QPT_RC ? 0 : real_post_recv(pair, request, bad);
}

/// One connection from rd1 to rd2, both ends turned by this thread.
class QueuePairs : public testing::Test {
 protected:
  static Instant now() { return std::chrono::steady_clock::now(); }
  static replay::ConnectionSpec spec() {
    return {.index = {},
            .key = {.job = {}, .communicator = {}, .source = Rank{0}, .destination = Rank{1}},
            .nic = {},
            .credits = kCredits,
            .message_bytes_max = 4096};
  }
  static std::unique_ptr<rdma::RdmaTransport> make(const rdma::VerbsApi& verbs,
                                                   const std::string& number,
                                                   plan::CompletionMode mode) {
    rdma::RdmaOptions options{.verbs = &verbs, .nics = {}, .token = "token"};
    options.nics.emplace_back(
        rdma::RdmaNic{.device = "rd" + number, .gid = {.address = "10.0.0." + number}});
    options.settings = {
        .completions = mode, .ack_timeout = 16, .retry_count = 6, .rnr_retry = 1, .rnr_timer = 12};
    return std::move(rdma::RdmaTransport::create(std::move(options)).value());
  }

  void connect(const rdma::VerbsApi& of_receiver, plan::CompletionMode mode) {
    at_sender.clear();
    at_receiver.clear();
    sender = make(*rdma::load_verbs().value(), "1", mode);
    receiver = make(of_receiver, "2", mode);
    const auto there = receiver->open(spec());
    ASSERT_TRUE(there) << there.error().text();
    const auto here = sender->offer(spec());
    ASSERT_TRUE(here) << here.error().text();
    ASSERT_TRUE(receiver->accept(spec(), *here));
    ASSERT_TRUE(sender->connect(spec(), *there));
    ASSERT_TRUE(until([&] {
      return has(at_sender, Completion::Kind::connected) == 1 &&
             has(at_receiver, Completion::Kind::connected) == 1;
    }));
  }

  template <typename Done>
  bool until(Done&& done) {
    for (const Instant limit = now() + kPatience; now() < limit;) {
      take(*sender, at_sender);
      take(*receiver, at_receiver);
      if (done()) return true;
    }
    return false;
  }
  static void take(rdma::RdmaTransport& transport, std::vector<Completion>& seen) {
    std::array<Completion, 64> batch;
    const std::size_t count = transport.poll(batch, now());
    seen.insert(seen.end(), batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(count));
  }
  static std::size_t has(const std::vector<Completion>& seen, Completion::Kind kind) {
    return static_cast<std::size_t>(
        std::ranges::count_if(seen, [&](const auto& one) { return one.kind == kind; }));
  }
  std::size_t send(std::size_t count) {
    std::vector<Request> requests;
    for (std::size_t i = 0; i < count; ++i)
      requests.push_back({.connection = {}, .sequence = i, .bytes = 1000});
    return sender->post(requests, now());
  }

  std::unique_ptr<rdma::RdmaTransport> sender;
  std::unique_ptr<rdma::RdmaTransport> receiver;
  std::vector<Completion> at_sender;
  std::vector<Completion> at_receiver;
};

TEST_F(QueuePairs, AFullReceiveQueueIsNamedAndTheNextConnectionWorks) {
  const rdma::VerbsApi& real = *rdma::load_verbs().value();
  rdma::VerbsApi stands_still = real;
  real_post_recv = real.post_recv;
  stands_still.post_recv = swallow_receives;
  ASSERT_NO_FATAL_FAILURE(connect(stands_still, plan::CompletionMode::event));
  ASSERT_EQ(send(1), 1U);
  ASSERT_TRUE(until([&] { return has(at_sender, Completion::Kind::failed) == 1; }));
  EXPECT_THAT(std::string(at_sender.back().reason), HasSubstr("[REHEARSAL-RDMA-021] rd1 port 1"));
  EXPECT_EQ(has(at_receiver, Completion::Kind::received), 0U);

  ASSERT_NO_FATAL_FAILURE(connect(real, plan::CompletionMode::event));
  ASSERT_EQ(send(4), 4U);
  EXPECT_TRUE(until([&] {
    return has(at_receiver, Completion::Kind::received) == 4 &&
           has(at_sender, Completion::Kind::sent) == 4;
  }));
}

TEST_F(QueuePairs, PollingAsksNothingOfTheSystemAndABatchOneThing) {
  ASSERT_NO_FATAL_FAILURE(connect(*rdma::load_verbs().value(), plan::CompletionMode::poll));
  const std::uint64_t before_post = calls;
  ASSERT_EQ(send(kCredits), kCredits);
  EXPECT_EQ(calls - before_post, 1U) << "one doorbell for the batch";
  ASSERT_TRUE(until([&] {
    return has(at_receiver, Completion::Kind::received) == kCredits &&
           has(at_sender, Completion::Kind::sent) == kCredits;
  }));
  // The transport itself asks its device for events now and then, and counts that.
  const std::uint64_t own = sender->rdma_statistics().notifications;
  const std::uint64_t before_poll = calls;
  std::array<Completion, 64> batch;
  for (int i = 0; i < 10'000; ++i) sender->poll(batch, now());
  EXPECT_EQ(calls - before_poll, sender->rdma_statistics().notifications - own);
  EXPECT_LT(calls - before_poll, 1'000U) << "one in 5 ms";
}

}  // namespace
}  // namespace rehearsal::test
