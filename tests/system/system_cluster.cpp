#include "tests/system/system_cluster.hpp"

#include <signal.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

namespace rehearsal::test {
namespace {

namespace fs = std::filesystem;

constexpr int kCannotExitCode = 77;
/// Some thirty processes: in the virtual machine of tests/rdma, on a busy machine, that takes long.
constexpr Duration kStartPatience = 4 * kPatience;
constexpr const char* kCoordinator = "10.77.0.1:7470";
constexpr const char* kIp = "/sbin/ip";

std::string read_whole(const fs::path& path) {
  std::ifstream stream{path};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

std::string script() { return std::string{REHEARSAL_SOURCE_DIR} + "/scripts/cluster"; }

}  // namespace

void SystemCluster::SetUp() {
  Program check{{script(), "--check"}, folder() / "check.log"};
  const auto verdict = check.wait();
  if (verdict == kCannotExitCode) GTEST_SKIP() << "SKIP: " << check.output();
  ASSERT_EQ(verdict, 0) << check.output();

  std::vector<std::string> command{
      script(),   std::to_string(kHosts), "--rails", std::to_string(kRails), "--bin", programs(),
      "--folder", cluster_folder_};
  command.insert(command.end(), options_.begin(), options_.end());
  script_ = std::make_unique<Program>(command, folder() / "script.log", std::vector<std::string>{},
                                      SIGTERM);
  const auto is_ready = [&] {
    prefix_ = read_whole(cluster_folder_ / "ready");
    return prefix_.ends_with('\n');
  };
  wait_until([&] { return is_ready() || !script_->is_running(); }, kStartPatience);
  ASSERT_TRUE(is_ready()) << script_->output();
  prefix_.pop_back();
  for (const std::string& host : all_hosts()) {
    // Keeps the namespace's counters readable when its agent is dead.
    anchor_programs_.push_back(std::make_unique<Program>(inside(host, {"/bin/sleep", "100000"}),
                                                         folder() / (host + "-anchor.log")));
    anchors_[host] = anchor_programs_.back()->pid();
    const std::string devices = "/proc/" + std::to_string(anchors_[host]) + "/net/dev";
    ASSERT_TRUE(wait_until([&] { return read_whole(devices).find("rail0:") != std::string::npos; }))
        << host << " is in no namespace with a rail";
  }
}

void SystemCluster::TearDown() {
  if (HasFailure()) print_logs();
  anchor_programs_.clear();
  restarted_.clear();
  if (!script_) return;
  script_->signal(SIGTERM);
  EXPECT_TRUE(script_->wait()) << "scripts/cluster does not end";
  Program list{{kIp, "netns", "list"}, folder() / "left.log"};
  list.wait();
  if (!prefix_.empty()) {
    EXPECT_EQ(list.output().find(prefix_), std::string::npos) << "left over: " << list.output();
  }
}

void SystemCluster::print_logs() const {
  for (const auto& entry : fs::directory_iterator{cluster_folder_})
    if (entry.path().extension() == ".log")
      std::cout << "--- " << entry.path().filename().string() << "\n"
                << read_whole(entry.path()) << "---\n";
}

std::vector<std::string> SystemCluster::inside(const std::string& name,
                                               const std::vector<std::string>& command) {
  std::vector<std::string> words{kIp, "netns", "exec", in_namespace(name)};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

Program SystemCluster::rehearse(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{programs() / "rehearse"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return Program{inside("head", command),
                 folder() / ("rehearse-" + std::to_string(++runs_) + ".log"),
                 {std::string{"REHEARSAL_COORDINATOR="} + kCoordinator}};
}

std::string SystemCluster::rehearse(const std::vector<std::string>& arguments, int& code) {
  Program program = rehearse(arguments);
  code = program.wait().value_or(-1);
  return program.output();
}

fs::path SystemCluster::drill(const std::string& name, const std::string& profile,
                              std::uint32_t iterations, const std::vector<std::string>& hosts,
                              const std::string& more) {
  const fs::path path = folder() / (name + ".yaml");
  std::ofstream stream{path};
  stream << "drill: " << name << "\niterations: " << iterations
         << "\ntransport:\n  kind: tcp\n  congestion_control: reno\n"
         << more << "jobs:\n  - name: job\n    profile: " << profile << "\n    hosts:\n";
  for (const std::string& host : hosts) stream << "      - " << host << "\n";
  return path;
}

std::string SystemCluster::profile(std::uint32_t ranks, const std::string& bytes,
                                   const std::string& compute) {
  const std::string name = "made-" + std::to_string(ranks) + "-" + bytes + ".yaml";
  std::ofstream stream{folder() / name};
  stream << "profile: made\nranks: " << ranks
         << "\nstreams: [compute, communication]\n"
            "communicators:\n  world: {ranks: 0-"
         << ranks - 1
         << "}\nclasses:\n  worker:\n    ranks: all\n    ops:\n"
            "      - compute: {name: think, duration: "
         << compute
         << "}\n      - all_reduce: {name: gradients, communicator: world, bytes: " << bytes
         << ", after: think}\n"
            "      - all_to_all: {name: exchange, communicator: world, bytes: "
         << bytes << ", after: gradients}\n";
  return name;
}

fs::path SystemCluster::long_drill() {
  return drill("long", profile(8, "4MiB", "2ms"), 100'000, all_hosts());
}

pid_t SystemCluster::pid_of(const std::string& name) const {
  if (const auto again = restarted_.find(name); again != restarted_.end())
    return again->second->pid();
  return static_cast<pid_t>(std::stol(read_whole(cluster_folder_ / (name + ".pid"))));
}

void SystemCluster::signal(const std::string& name, int number) {
  ASSERT_EQ(kill(pid_of(name), number), 0) << name;
}

void SystemCluster::restart_agent(const std::string& host) {
  restarted_[host] = std::make_unique<Program>(
      inside(host,
             {programs() / "rehearsal-agent", "--config", cluster_folder_ / (host + ".yaml")}),
      cluster_folder_ / (host + "-again.log"));
}

void SystemCluster::restart_coordinator() {
  restarted_["head"] = std::make_unique<Program>(
      inside("head", {programs() / "rehearsald", "--listen", kCoordinator, "--metrics",
                      "10.77.0.1:9470", "--store", cluster_folder_ / "store"}),
      cluster_folder_ / "head-again.log");
}

bool SystemCluster::has_free_agents(std::size_t count) {
  int code = 0;
  const auto status = nlohmann::json::parse(rehearse({"status", "--json"}, code), nullptr, false);
  if (code != 0 || !status.is_object() || status["agents"].size() != count) return false;
  return std::ranges::all_of(status["agents"],
                             [](const auto& agent) { return agent["run"].is_null(); });
}

bool SystemCluster::wait_for_free_agents(std::size_t count, Duration patience) {
  return wait_until([&] { return has_free_agents(count); }, patience);
}

SystemCluster::Counters SystemCluster::counters(const std::string& host, std::uint32_t rail) {
  std::ifstream stream{"/proc/" + std::to_string(anchors_.at(host)) + "/net/dev"};
  const std::string wanted = "rail" + std::to_string(rail) + ":";
  std::string line;
  while (std::getline(stream, line)) {
    std::istringstream words{line};
    std::string name;
    Counters counters;
    std::uint64_t other = 0;
    words >> name >> counters.received;
    for (int i = 0; i < 7; ++i) words >> other;
    words >> counters.sent;
    if (name == wanted) return counters;
  }
  ADD_FAILURE() << host << " has no " << wanted;
  return {};
}

std::uint64_t SystemCluster::sent_by_all() {
  std::uint64_t sum = 0;
  for (const std::string& host : all_hosts())
    for (std::uint32_t rail = 0; rail < kRails; ++rail) sum += counters(host, rail).sent;
  return sum;
}

std::uint64_t SystemCluster::sent_within(Duration window) {
  const std::uint64_t before = sent_by_all();
  std::this_thread::sleep_for(window);
  return sent_by_all() - before;
}

nlohmann::json SystemCluster::summary(const fs::path& run_folder) {
  auto json = nlohmann::json::parse(read_whole(run_folder / "summary.json"), nullptr, false);
  EXPECT_TRUE(json.is_object()) << run_folder << "/summary.json is missing or no JSON object";
  return json;
}

double SystemCluster::median(const std::string& job, std::uint32_t begin, std::uint32_t end) {
  std::ifstream lines{folder() / "out" / "results.jsonl"};
  std::vector<double> times;
  for (std::string line; std::getline(lines, line);) {
    const auto result = nlohmann::json::parse(line);
    const auto iteration = result["iteration"].get<std::uint32_t>();
    if (result["job"] == job && iteration >= begin && iteration < end)
      times.push_back(result["time_seconds"]["p50"].get<double>());
  }
  EXPECT_EQ(times.size(), end - begin);
  std::ranges::sort(times);
  return times.empty() ? 0 : times[times.size() / 2];
}

bool SystemCluster::shape(const std::string& rate) {
  for (std::uint32_t host = 1; host <= kHosts; ++host) {
    const std::string port = "d" + std::to_string(10 + host) + "r0";  // as scripts/cluster does
    Program tc{bridge_command({"/usr/sbin/tc", "qdisc", "add", "dev", port, "root", "tbf", "rate",
                               rate, "burst", "32k", "latency", "400ms"}),
               folder() / (port + "-tc.log")};
    if (tc.wait() != 0) return false;
  }
  return true;
}

}  // namespace rehearsal::test
