#include "agent/control/rehearsal_agent.hpp"

#include <unistd.h>

#include <cerrno>
#include <optional>
#include <random>

#include "agent/control/agent_loop.hpp"
#include "agent/control/metrics.hpp"
#include "agent/fault/helper_client.hpp"
#include "agent/host/host_facts.hpp"
#include "agent/host/nics.hpp"
#include "agent/worker/data_transport.hpp"
#include "core/coordination/agent_session.hpp"
#include "core/host/examine.hpp"
#include "runtime/clock.hpp"
#include "runtime/files.hpp"
#include "runtime/heartbeat.hpp"
#include "runtime/http_server.hpp"
#include "runtime/log.hpp"
#include "runtime/service_manager.hpp"
#include "runtime/signals.hpp"

namespace rehearsal::agent {
namespace {

/// How often a draining agent looks whether its run has ended.
constexpr std::chrono::milliseconds kDrainLook{50};
/// For last messages to the coordinator.
constexpr std::chrono::milliseconds kLinger{200};

Result<std::string> host_name() {
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) != 0) {
    return system_failure(ErrorSource::host, "cannot read the host's name", errno);
  }
  return std::string(name);
}

/// The address from which the coordinator is reached: its device carries no data unless named.
Result<std::string> control_address(asio::io_context& context, const runtime::Endpoint& at) {
  asio::error_code error;
  asio::ip::tcp::resolver resolver(context);
  const auto places = resolver.resolve(at.address, std::to_string(at.port), error);
  if (error || places.empty()) {
    return fail(ErrorCode::not_found, ErrorSource::host,
                "cannot resolve " + at.address + " (" + error.message() +
                    ") to tell the control interface from data NICs; name the data NICs with nics: "
                    "or --nic, or give the coordinator's IP address");
  }
  return local_address_towards(places.begin()->endpoint().address().to_string(), at.port);
}

/// What a program that keeps faults allows, if it is there now; one that comes later is heard of
/// then.
std::optional<fault::WelcomeReply> ask(const std::filesystem::path& socket) {
  if (socket.empty()) return std::nullopt;
  const auto helper = HelperClient::connect(socket);
  if (helper) return helper->welcome();
  if (helper.error().code != ErrorCode::not_found)
    runtime::log_warning("faults that outlive the agent: " + helper.error().text());
  return std::nullopt;
}

void ask_helpers(const Config& config, plan::Inventory& inventory) {
  if (const auto welcome = ask(config.helper))
    inventory.kernel = {.helper = true,
                        .faults = welcome->faults,
                        .interfaces = welcome->interfaces,
                        .duration_max = welcome->duration_max};
  if (const auto welcome = ask(config.external))
    inventory.external = {.runner = true, .commands = welcome->commands};
}

Result<plan::Inventory> take_inventory(asio::io_context& context, const Config& config) {
  plan::Inventory inventory{.host = config.name, .nics = {}, .shared_nics = config.shared_nics};
  if (inventory.host.empty()) {
    ASSIGN_OR_RETURN(inventory.host, host_name());
  }
  RETURN_IF_ERROR(check_name(inventory.host));
  const auto control = control_address(context, config.coordinator);
  if (config.nics.empty() && !control) return Failure{control.error()};
  ASSIGN_OR_RETURN(const auto addresses, host_addresses());
  ASSIGN_OR_RETURN(inventory.nics, find_nics(config.nics, addresses, control.value_or("")));
  for (const HostAddress& at : addresses) {
    if (control && at.address == *control) inventory.control_interfaces = {at.device};
  }
  ask_helpers(config, inventory);
  if (shared_by_nature(inventory.nics, addresses)) inventory.shared_nics = true;
  describe_transports(inventory);
  return inventory;
}

std::string describe(const plan::Inventory& inventory) {
  std::string text;
  for (const plan::Nic& nic : inventory.nics) {
    text += (text.empty() ? "" : ", ") + nic.name + "=" + nic.address;
    if (nic.line_rate > BitRate{}) text += " (" + format_bit_rate_exact(nic.line_rate) + ")";
    if (nic.rdma)
      text += " (RDMA " + nic.rdma->device + " port " + std::to_string(nic.rdma->port) +
              (nic.rdma->active ? "" : ", not active") + ")";
  }
  return text;
}

std::vector<host::Finding> findings_of(const plan::Inventory& inventory, const Config& config) {
  return host::examine(find_host_facts(inventory, config.worker_cores, missing_verbs()));
}

/// The parts of the agent and the way they end: let the run finish within a limit, let go, leave.
class RehearsalAgent {
 public:
  explicit RehearsalAgent(const Config& config) : config_(config), drain_timer_(context_) {}

  Result<void> start() {
    ASSIGN_OR_RETURN(inventory_, take_inventory(context_, config_));
    places_ = find_nic_places(inventory_.nics);
    // Cores that it may not use are told now, not by the first run.
    RETURN_IF_ERROR(choose_place(true));
    const auto findings = findings_of(inventory_, config_);
    metrics_.emplace(REHEARSAL_VERSION, inventory_);
    session_.emplace(coordination::AgentOptions{
        .software = "rehearsal-agent " REHEARSAL_VERSION,
        .inventory = inventory_,
        .findings = findings,
        .seed = std::random_device{}(),
    });
    ASSIGN_OR_RETURN(loop_, AgentLoop::create(context_, loop_options()));
    ASSIGN_OR_RETURN(
        http_, runtime::HttpServer::start(context_, config_.metrics,
                                          [this](std::string_view path) { return answer(path); }));
    signals_.emplace(
        context_, [this] { drain(); }, [this] { leave(); });
    heartbeat_.emplace(context_, manager_);
    const std::string metrics = runtime::to_string(http_->listening());
    if (config_.announce) {
      RETURN_IF_ERROR(
          runtime::announce(*config_.announce, {{"metrics", metrics}, {"name", inventory_.host}}));
    }
    runtime::log_info("rehearsal-agent " REHEARSAL_VERSION " is " + inventory_.host +
                      ", coordinator " + runtime::to_string(config_.coordinator) + ", data NICs " +
                      describe(inventory_) + ", metrics on " + metrics + ", helper " +
                      (inventory_.kernel.helper ? "is there" : "not there") +
                      ", rehearsal-external " +
                      (inventory_.external.runner ? "is there" : "not there"));
    for (const host::Finding& finding : findings)
      if (finding.health == host::Finding::Health::bad)
        runtime::log_warning(finding.subject + ": " + finding.what + "; " + finding.fix);
    loop_->start();
    manager_.ready();
    return {};
  }

  void run() { context_.run(); }

 private:
  AgentLoopOptions loop_options() {
    AgentLoopOptions options{
        .link = {.coordinator = config_.coordinator},
        .session = {.on = [this](const coordination::AgentEvent& event,
                                 Instant now) { return session_->on(event, now); },
                    .next_deadline = [this] { return session_->next_deadline(); }},
        .start_worker = [this](WorkerOptions worker) { return start_placed(std::move(worker)); },
        .inventory = inventory_,
        .helper = config_.helper,
        .external = config_.external,
    };
    if (!inventory_.shared_nics) {
      options.read_counters = [this] { return read_nic_counts(inventory_.nics, runtime::now()); };
      options.watch_wire = [this](const plan::Plan& plan) {
        std::vector<std::optional<WireCounters>> counters;
        for (const plan::Nic& nic : inventory_.nics)
          counters.push_back(find_wire_counters(nic, plan.transport.kind));
        return WireSampler::start(std::move(counters));
      };
    }
    return options;
  }

  Result<host::WorkerPlace> choose_place(bool polls) const {
    return host::choose_worker_place(config_.worker_cores, places_, allowed_cores(),
                                     isolated_cores(), polls && !inventory_.shared_nics);
  }

  Result<std::unique_ptr<WorkerPort>> start_placed(WorkerOptions worker) const {
    const plan::TransportSettings& transport = worker.plan->transport;
    ASSIGN_OR_RETURN(worker.place,
                     choose_place(transport.kind == plan::TransportKind::rdma &&
                                  transport.rdma.completions == plan::CompletionMode::poll));
    return start_worker(std::move(worker));
  }

  runtime::HttpResponse answer(std::string_view path) {
    if (path == "/metrics") {
      return {200, std::string(runtime::kMetricsContentType),
              metrics_->text(session_->view(runtime::now()), loop_->counters())};
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
    leave_at_ = runtime::now() + config_.drain_limit;
    runtime::log_info("stopping: a run that is on may end within " +
                      format_duration_exact(config_.drain_limit));
    look_whether_drained();
  }

  void look_whether_drained() {
    if (session_->view(runtime::now()).run.empty() || runtime::now() >= leave_at_) return leave();
    drain_timer_.expires_after(kDrainLook);
    drain_timer_.async_wait([this](const asio::error_code& error) {
      if (!error) look_whether_drained();
    });
  }

  /// The worker ends first, so that no byte leaves after this.
  void leave() {
    if (leaving_) return context_.stop();
    leaving_ = draining_ = true;
    manager_.stopping();
    loop_->stop("the agent stops");
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
  plan::Inventory inventory_;
  std::vector<host::NicPlace> places_;
  std::optional<AgentMetrics> metrics_;
  std::optional<coordination::AgentSession> session_;
  std::unique_ptr<AgentLoop> loop_;
  std::unique_ptr<runtime::HttpServer> http_;
  std::optional<runtime::StopSignals> signals_;
  std::optional<runtime::Heartbeat> heartbeat_;
  runtime::Timer drain_timer_;
  Instant leave_at_ = kNever;
  bool draining_ = false;
  bool leaving_ = false;
};

}  // namespace

std::vector<host::Finding> examine_host(const Config& config) {
  asio::io_context context{1};
  const auto taken = take_inventory(context, config);
  plan::Inventory inventory = taken.value_or(plan::Inventory{.host = config.name, .nics = {}});
  if (inventory.host.empty()) inventory.host = host_name().value_or("this host");
  std::vector<host::Finding> findings = findings_of(inventory, config);
  if (!taken) {
    findings.push_back({host::Finding::Health::bad, inventory.host, taken.error().message,
                        "the agent does not start so; see its configuration"});
  }
  const auto place = host::choose_worker_place(config.worker_cores, find_nic_places(inventory.nics),
                                               allowed_cores(), isolated_cores(), true);
  if (!place) {
    findings.push_back({host::Finding::Health::bad, inventory.host, place.error().message,
                        "the agent does not start so; see its configuration"});
  }
  for (const plan::Nic& nic : inventory.nics)
    host::examine_port(nic, inventory.host + " " + nic.name, findings);
  return findings;
}

Result<void> run(const Config& config) {
  RehearsalAgent agent(config);
  RETURN_IF_ERROR(agent.start());
  agent.run();
  return {};
}

}  // namespace rehearsal::agent
