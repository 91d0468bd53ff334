#include "daemon/rehearsald.hpp"

#include <chrono>
#include <cstdio>
#include <ctime>
#include <random>

#include "core/coordination/coordinator.hpp"
#include "daemon/control_server.hpp"
#include "daemon/metrics.hpp"
#include "daemon/run_store.hpp"
#include "runtime/clock.hpp"
#include "runtime/files.hpp"
#include "runtime/heartbeat.hpp"
#include "runtime/http_server.hpp"
#include "runtime/log.hpp"
#include "runtime/service_manager.hpp"
#include "runtime/signals.hpp"

namespace rehearsal::daemon {
namespace {

using coordination::Coordinator;
using coordination::RunState;

/// How often a draining coordinator looks whether its run has ended.
constexpr std::chrono::milliseconds kDrainLook{100};
/// For last messages to agents and operators.
constexpr std::chrono::milliseconds kLinger{300};

std::uint64_t random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

/// 128 bits from the system.
std::string random_token() {
  std::random_device device;
  std::string token;
  for (int i = 0; i < 4; ++i) {
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", static_cast<unsigned>(device()));
    token += digits;
  }
  return token;
}

/// RFC 3339 in UTC; `instant` is taken from the monotonic clock of this host.
std::string wall_time(Instant instant) {
  using std::chrono::system_clock;
  const auto when = system_clock::now() +
                    std::chrono::duration_cast<system_clock::duration>(instant - runtime::now());
  const std::time_t seconds = system_clock::to_time_t(when);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

bool run_is_on(RunState state) {
  return state != RunState::idle && state != RunState::finished && state != RunState::failed &&
         state != RunState::stopped;
}

/// The parts of the daemon and the way they end: close the door, let the run finish within a limit,
/// say goodbye, leave.
class Rehearsald {
 public:
  explicit Rehearsald(const Config& config) : config_(config), drain_timer_(context_) {}

  Result<void> start() {
    ASSIGN_OR_RETURN(store_, RunStore::open(config_.store, {.runs_max = config_.store_runs_max}));
    metrics_.emplace(REHEARSAL_VERSION, store_->epoch());
    coordinator_.emplace(coordination::CoordinatorOptions{
        .software = "rehearsald " REHEARSAL_VERSION,
        .epoch = store_->epoch(),
        .seed = random_seed(),
        .token = random_token,
        .wall_time = wall_time,
    });
    ASSIGN_OR_RETURN(server_, ControlServer::start(context_, {.listen = config_.listen}, hooks()));
    ASSIGN_OR_RETURN(
        http_, runtime::HttpServer::start(context_, config_.metrics,
                                          [this](std::string_view path) { return answer(path); }));
    signals_.emplace(
        context_, [this] { drain(); }, [this] { leave(); });
    heartbeat_.emplace(context_, manager_);
    const std::string listening = runtime::to_string(server_->listening());
    const std::string metrics = runtime::to_string(http_->listening());
    if (config_.announce) {
      RETURN_IF_ERROR(
          runtime::announce(*config_.announce, {{"control", listening}, {"metrics", metrics}}));
    }
    runtime::log_info("rehearsald " REHEARSAL_VERSION " listens on " + listening + ", metrics on " +
                      metrics + ", store " + config_.store.string() + ", epoch " +
                      std::to_string(store_->epoch()));
    manager_.ready();
    return {};
  }

  void run() { context_.run(); }

 private:
  ControlServerHooks hooks() {
    return {
        .coordinator = {.on = [this](const coordination::Event& event,
                                     Instant now) { return coordinator_->on(event, now); },
                        .next_deadline = [this] { return coordinator_->next_deadline(); }},
        .store =
            [this](coordination::StoreRun run) {
              const std::string name = run.run;
              if (!store_->save(std::move(run))) {
                runtime::log_error("run " + name + " is not kept: the disk is too slow");
              }
            },
        .on_handled = [this](Duration duration) { metrics_->event_handled(duration); },
    };
  }

  runtime::HttpResponse answer(std::string_view path) {
    if (path == "/metrics") {
      return {200, std::string(runtime::kMetricsContentType),
              metrics_->text(coordinator_->view(), server_->counters(), store_->runs_written(),
                             store_->runs_lost())};
    }
    if (path == "/healthz") {
      return draining_ ? runtime::HttpResponse{503, "text/plain; charset=utf-8", "stopping\n"}
                       : runtime::HttpResponse{.body = "ok\n"};
    }
    return {404, "text/plain; charset=utf-8", "/metrics and /healthz are offered here\n"};
  }

  void drain() {
    draining_ = true;
    manager_.stopping();
    server_->refuse_new();
    leave_at_ = runtime::now() + config_.drain_limit;
    runtime::log_info("stopping: no new sessions; a run that is on may end within " +
                      format_duration_exact(config_.drain_limit));
    look_whether_drained();
  }

  void look_whether_drained() {
    if (!run_is_on(coordinator_->view().state) || runtime::now() >= leave_at_) return leave();
    drain_timer_.expires_after(kDrainLook);
    drain_timer_.async_wait([this](const asio::error_code& error) {
      if (!error) look_whether_drained();
    });
  }

  /// Agents fall silent when their session ends.
  void leave() {
    if (leaving_) return context_.stop();
    leaving_ = draining_ = true;
    manager_.stopping();
    server_->refuse_new();
    server_->close_all("the coordinator stops");
    http_->stop();
    drain_timer_.expires_after(kLinger);
    drain_timer_.async_wait([this](const asio::error_code& error) {
      if (error) return;
      runtime::log_info("stopped");
      context_.stop();
    });
  }

  const Config config_;
  const runtime::ServiceManager manager_ = runtime::ServiceManager::from_environment();
  asio::io_context context_{1};
  std::unique_ptr<RunStore> store_;
  std::optional<CoordinatorMetrics> metrics_;
  std::optional<Coordinator> coordinator_;
  std::unique_ptr<ControlServer> server_;
  std::unique_ptr<runtime::HttpServer> http_;
  std::optional<runtime::StopSignals> signals_;
  std::optional<runtime::Heartbeat> heartbeat_;
  runtime::Timer drain_timer_;
  Instant leave_at_ = kNever;
  bool draining_ = false;
  bool leaving_ = false;
};

}  // namespace

Result<void> run(const Config& config) {
  Rehearsald daemon(config);
  RETURN_IF_ERROR(daemon.start());
  daemon.run();
  return {};
}

}  // namespace rehearsal::daemon
