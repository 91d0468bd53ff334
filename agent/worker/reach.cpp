#include "agent/worker/reach.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "agent/worker/data_transport.hpp"
#include "agent/worker/waiter.hpp"
#include "core/protocol/rehearsal.pb.h"

namespace rehearsal::agent {
namespace {

/// Many full-size frames of any MTU, and still little.
constexpr std::uint64_t kMessageBytes = 64U << 10;
/// Without a word from the coordinator all is closed.
constexpr Duration kLife = std::chrono::seconds{30};
/// Of one question; as many as the coordinator orders at most.
constexpr int kLinksMax = 4096;
constexpr Duration kLook = std::chrono::milliseconds{50};
constexpr Duration kLimitMax = std::chrono::seconds{15};

Instant clock_now() noexcept { return std::chrono::steady_clock::now(); }

using Cause = protocol::ReachOutcome::Cause;

/// Of what failed after it had begun.
Cause cause_of(int error_number) {
  switch (error_number) {
    case ETIMEDOUT:
      return protocol::ReachOutcome::CAUSE_TIMED_OUT;
    case ECONNREFUSED:
      return protocol::ReachOutcome::CAUSE_REFUSED;
    case EHOSTUNREACH:
    case ENETUNREACH:
      return protocol::ReachOutcome::CAUSE_UNREACHABLE;
    case EMSGSIZE:
      return protocol::ReachOutcome::CAUSE_PATH_MTU;
    default:
      return protocol::ReachOutcome::CAUSE_UNKNOWN;
  }
}

/// Of what could not even begin.
Cause cause_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::not_found:
      return protocol::ReachOutcome::CAUSE_NO_ADDRESS;
    case ErrorCode::disconnected:
      return protocol::ReachOutcome::CAUSE_UNREACHABLE;
    default:
      return protocol::ReachOutcome::CAUSE_UNKNOWN;
  }
}

struct Link {
  std::uint32_t number = 0;
  bool outgoing = false;
  bool is_open = false;
  bool is_asked = false;  // to connect: the other end is open too
  bool connected = false;
  bool sent = false;
  bool moved = false;
  std::uint32_t path_mtu = 0;
  std::string problem = {};
  Cause cause = protocol::ReachOutcome::CAUSE_UNKNOWN;
  replay::ConnectionSpec spec = {};

  bool is_done() const { return !problem.empty() || (outgoing ? sent : moved); }
};

/// A plan of nobody's jobs: what make_data_transport() looks at.
plan::Plan plan_of(const plan::Inventory& own, const protocol::ReachOrder& order) {
  plan::Plan plan;
  plan.transport.kind =
      order.transport() == "rdma" ? plan::TransportKind::rdma : plan::TransportKind::tcp;
  plan.transport.rdma.completions = plan::CompletionMode::event;
  plan.hosts = {own, plan::Inventory{.host = "others", .nics = {}}};
  for (const std::string& address : order.addresses())
    plan.hosts.back().nics.push_back({.name = "nic", .address = address, .line_rate = {}});
  return plan;
}

}  // namespace

/// One question: from `open` to `close`.
class Reach::Probe {
 public:
  Probe(const plan::Inventory& inventory, const protocol::ReachOrder& open,
        std::function<void()> notify)
      : inventory_(inventory), open_(open), notify_(std::move(notify)), waiter_(Waiter::create()) {
    if (waiter_) thread_ = std::thread([this] { run(); });
  }
  ~Probe() {
    closing_ = true;
    if (!thread_.joinable()) return;
    waiter_->wake();
    thread_.join();
  }

  std::uint64_t order() const { return open_.order(); }

  void connect(const protocol::ReachOrder& order) {
    {
      const std::lock_guard lock(mutex_);
      connect_ = order;
    }
    if (waiter_) waiter_->wake();
  }
  std::vector<protocol::ReachReport> take_reports() {
    const std::lock_guard lock(mutex_);
    return std::exchange(reports_, {});
  }

 private:
  void run() {
    prepare_worker_thread();
    const Instant end = clock_now() + kLife;
    open();
    if (!transport_) return;
    while (!closing_ && clock_now() < end) {
      take_connect();
      turn(clock_now());
      const Instant now = clock_now();
      if (deadline_ && (now >= *deadline_ || all_done())) tell_outcomes();
      const replay::Wakeup wakeup = transport_->wakeup();
      waiter_->wait(wakeup.file_descriptor, now, std::min(wakeup.deadline, now + kLook));
    }
    transport_.reset();
  }

  void open() {
    protocol::ReachReport report;
    report.set_order(open_.order());
    report.set_step(protocol::ReachOrder::STEP_OPEN);
    if (open_.links_size() > kLinksMax) {
      report.set_problem("the order has " + std::to_string(open_.links_size()) +
                         " links; right would be at most " + std::to_string(kLinksMax));
      return tell(std::move(report));
    }
    const plan::Plan plan = plan_of(inventory_, open_);
    auto made = make_data_transport(plan, HostIndex{0}, open_.token(), {});
    if (!made) {
      report.set_problem(made.error().text());
      return tell(std::move(report));
    }
    transport_ = std::move(*made);
    for (const protocol::ReachLink& asked : open_.links()) {
      if (asked.nic() >= inventory_.nics.size()) continue;
      Link& link = links_.emplace_back();
      link.number = asked.link();
      link.outgoing = asked.outgoing();
      link.spec = {.index = ConnectionIndex{static_cast<std::uint32_t>(links_.size() - 1)},
                   .key = {.job = {},
                           .communicator = {},
                           .source = Rank{asked.link()},
                           .destination = Rank{asked.link()}},
                   .nic = NicIndex{asked.nic()},
                   .credits = 1,
                   .message_bytes_max = kMessageBytes};
      const auto address =
          link.outgoing ? transport_->offer(link.spec) : transport_->open(link.spec);
      protocol::ReachOutcome& outcome = *report.add_outcomes();
      outcome.set_link(link.number);
      link.is_open = address.has_value();
      if (address) {
        outcome.set_address(*address);
      } else {
        note(link, address.error());
        outcome.set_problem(link.problem);
        outcome.set_cause(link.cause);
      }
    }
    tell(std::move(report));
  }

  void take_connect() {
    std::optional<protocol::ReachOrder> order;
    {
      const std::lock_guard lock(mutex_);
      order = std::exchange(connect_, std::nullopt);
    }
    if (!order || deadline_ || told_) return;
    const Duration limit{static_cast<std::int64_t>(
        std::min<std::uint64_t>(open_.limit_ns(), static_cast<std::uint64_t>(kLimitMax.count())))};
    deadline_ = clock_now() + limit;
    for (const protocol::ReachLink& asked : order->links()) {
      for (Link& link : links_) {
        if (link.number != asked.link() || link.outgoing != asked.outgoing()) continue;
        // A transport takes an end once, and none that has failed.
        if (!link.is_open || link.is_asked || !link.problem.empty()) continue;
        link.is_asked = true;
        Result<void> joined;
        if (link.outgoing)
          joined = transport_->connect(link.spec, asked.address());
        else if (!asked.address().empty())
          joined = transport_->accept(link.spec, asked.address());
        if (!joined) note(link, joined.error());
      }
    }
    for (Link& link : links_)
      if (!link.is_asked && link.problem.empty()) link.problem = "the other end is missing";
  }

  void turn(Instant now) {
    std::array<replay::Completion, 64> batch;
    const std::size_t count = transport_->poll(batch, now);
    for (std::size_t i = 0; i < count; ++i) {
      const replay::Completion& completion = batch[i];
      Link& link = links_[completion.connection.value];
      using Kind = replay::Completion::Kind;
      if (completion.kind == Kind::failed && link.problem.empty()) {
        link.problem = std::string(completion.reason);
        link.cause = cause_of(completion.error_number);
      }
      if (completion.kind == Kind::connected) {
        link.connected = true;
        link.path_mtu = static_cast<std::uint32_t>(completion.bytes);
        if (link.outgoing) post(link, replay::Request::Kind::send, now);
      }
      if (completion.kind == Kind::sent) link.sent = true;
      if (completion.kind == Kind::received) {
        link.moved = true;
        post(link, replay::Request::Kind::release, now);
      }
    }
  }

  static void note(Link& link, const Error& error) {
    link.problem = error.text();
    link.cause = cause_of(error.code);
  }

  void post(const Link& link, replay::Request::Kind kind, Instant now) {
    const replay::Request request{
        .kind = kind, .connection = link.spec.index, .bytes = kMessageBytes};
    // The first and only message of a connection always has room.
    static_cast<void>(transport_->post({&request, 1}, now));
  }

  bool all_done() const {
    for (const Link& link : links_)
      if (!link.is_done()) return false;
    return true;
  }

  void tell_outcomes() {
    deadline_.reset();
    told_ = true;
    protocol::ReachReport report;
    report.set_order(open_.order());
    report.set_step(protocol::ReachOrder::STEP_CONNECT);
    for (const Link& link : links_) {
      protocol::ReachOutcome& outcome = *report.add_outcomes();
      outcome.set_link(link.number);
      outcome.set_connected(link.connected);
      outcome.set_moved(link.moved);
      outcome.set_path_mtu(link.path_mtu);
      const bool timed_out = link.outgoing && !link.connected && link.problem.empty();
      outcome.set_problem(timed_out ? "connecting timed out" : link.problem);
      outcome.set_cause(timed_out ? protocol::ReachOutcome::CAUSE_TIMED_OUT : link.cause);
    }
    tell(std::move(report));
  }

  void tell(protocol::ReachReport report) {
    {
      const std::lock_guard lock(mutex_);
      reports_.push_back(std::move(report));
    }
    notify_();
  }

  const plan::Inventory inventory_;
  const protocol::ReachOrder open_;
  const std::function<void()> notify_;
  Result<Waiter> waiter_;
  // Of the thread.
  std::unique_ptr<replay::Transport> transport_;
  std::vector<Link> links_;
  std::optional<Instant> deadline_;
  bool told_ = false;
  // Between both.
  std::atomic<bool> closing_ = false;
  std::mutex mutex_;  // of the two below
  std::optional<protocol::ReachOrder> connect_;
  std::vector<protocol::ReachReport> reports_;
  std::thread thread_;
};

Reach::Reach(plan::Inventory inventory, std::function<void()> notify)
    : inventory_(std::move(inventory)), notify_(std::move(notify)) {}
Reach::~Reach() = default;

void Reach::order(const protocol::ReachOrder& order) {
  if (order.step() == protocol::ReachOrder::STEP_OPEN) {
    probe_.reset();
    probe_ = std::make_unique<Probe>(inventory_, order, notify_);
  } else if (!probe_ || probe_->order() != order.order()) {
    return;
  } else if (order.step() == protocol::ReachOrder::STEP_CONNECT) {
    probe_->connect(order);
  } else if (order.step() == protocol::ReachOrder::STEP_CLOSE) {
    close();
  }
}

void Reach::close() { probe_.reset(); }

std::vector<protocol::ReachReport> Reach::take_reports() {
  return probe_ ? probe_->take_reports() : std::vector<protocol::ReachReport>{};
}

}  // namespace rehearsal::agent
