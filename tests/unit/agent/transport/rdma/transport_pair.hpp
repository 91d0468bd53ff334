#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "agent/transport/rdma/rdma_transport.hpp"
#include "tests/support/verbs/fake_verbs.hpp"

namespace rehearsal::rdma {

using namespace std::chrono_literals;
using replay::Completion;
using replay::Request;
using test::FakeVerbs;

inline constexpr ConnectionIndex kConnection{0};

/// A connection from a sender on fake1 to a receiver on fake2, in a time that the test moves.
class TransportPair : public testing::Test {
 protected:
  replay::ConnectionSpec spec() const {
    return {.index = kConnection,
            .key = {.job = {}, .communicator = {}, .source = Rank{0}, .destination = Rank{1}},
            .nic = {},
            .credits = 4,
            .message_bytes_max = 4096};
  }

  void make(const plan::RdmaSettings& settings = {.completions = plan::CompletionMode::event}) {
    for (const bool sends : {true, false}) {
      RdmaOptions options = verbs.options(sends ? 1 : 2);
      options.settings = settings;
      options.verify_payload = verify;
      auto made = RdmaTransport::create(std::move(options));
      ASSERT_TRUE(made.has_value()) << made.error().text();
      (sends ? sender : receiver) = std::move(*made);
    }
  }

  /// Exchanges addresses; empty, or what went wrong.
  std::string join() {
    const auto there = receiver->open(spec());
    if (!there) return there.error().text();
    const auto here = sender->offer(spec());
    if (!here) return here.error().text();
    if (auto done = receiver->accept(spec(), *here); !done) return done.error().text();
    if (auto done = sender->connect(spec(), *there); !done) return done.error().text();
    return {};
  }

  void turn(Duration pause = 1ms) {
    now += pause;
    for (auto* transport : {sender.get(), receiver.get()}) {
      std::array<Completion, 64> batch;
      const std::size_t count = transport->poll(batch, now);
      auto& seen = transport == sender.get() ? at_sender : at_receiver;
      seen.insert(seen.end(), batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(count));
    }
  }
  void turns(int count, Duration pause = 1ms) {
    for (int i = 0; i < count; ++i) turn(pause);
  }

  void connect(const plan::RdmaSettings& settings = {.completions = plan::CompletionMode::event}) {
    make(settings);
    ASSERT_EQ(join(), "");
    turns(5);
    ASSERT_EQ(count(at_sender, Completion::Kind::connected), 1U);
    ASSERT_EQ(count(at_receiver, Completion::Kind::connected), 1U);
  }

  static std::size_t count(const std::vector<Completion>& seen, Completion::Kind kind) {
    return static_cast<std::size_t>(
        std::ranges::count_if(seen, [&](const auto& one) { return one.kind == kind; }));
  }
  static std::string failure(const std::vector<Completion>& seen) {
    for (const Completion& one : seen)
      if (one.kind == Completion::Kind::failed) return std::string(one.reason);
    return {};
  }

  static int error_number(const std::vector<Completion>& seen) {
    for (const Completion& one : seen)
      if (one.kind == Completion::Kind::failed) return one.error_number;
    return -1;
  }

  std::size_t send(std::uint64_t bytes) {
    const Request request{.connection = kConnection, .sequence = next_send, .bytes = bytes};
    const std::size_t taken = sender->post({&request, 1}, now);
    next_send += taken;
    return taken;
  }
  std::size_t send_batch(std::size_t messages, std::uint64_t bytes) {
    std::vector<Request> requests;
    for (std::size_t i = 0; i < messages; ++i)
      requests.push_back({.connection = kConnection, .sequence = next_send + i, .bytes = bytes});
    const std::size_t taken = sender->post(requests, now);
    next_send += taken;
    return taken;
  }
  void release() {
    const Request request{
        .kind = Request::Kind::release, .connection = kConnection, .sequence = next_release++};
    ASSERT_EQ(receiver->post({&request, 1}, now), 1U);
  }

  FakeVerbs verbs;
  bool verify = false;
  Instant now{1s};
  std::unique_ptr<RdmaTransport> sender;
  std::unique_ptr<RdmaTransport> receiver;
  std::vector<Completion> at_sender;
  std::vector<Completion> at_receiver;
  std::uint64_t next_send = 0;
  std::uint64_t next_release = 0;
};

}  // namespace rehearsal::rdma
