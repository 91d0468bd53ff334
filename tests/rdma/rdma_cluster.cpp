#include "tests/rdma/rdma_cluster.hpp"

#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

namespace rehearsal::test {
namespace {

namespace fs = std::filesystem;

std::string read_whole(const fs::path& path) {
  std::ifstream stream{path};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

/// Between two looks at what other processes bring about.
void pause() { std::this_thread::sleep_for(std::chrono::milliseconds{20}); }

}  // namespace

void RdmaCluster::start(std::uint32_t hosts) {
  coordinator_ = std::make_unique<Program>(
      std::vector<std::string>{programs() / "rehearsald", "--listen", "127.0.0.1:7470", "--metrics",
                               "127.0.0.1:9470", "--store", folder() / "store", "--announce",
                               folder() / "announce"},
      folder() / "coordinator.log");
  const Instant deadline = now() + kPatience;
  while (!fs::exists(folder() / "announce")) {
    ASSERT_TRUE(coordinator_->is_running()) << coordinator_->output();
    ASSERT_LT(now(), deadline);
    pause();
  }
  for (std::uint32_t i = 1; i <= hosts; ++i) start_agent("h" + std::to_string(i));
  ASSERT_TRUE(wait_for_free_agents(hosts));
}

void RdmaCluster::start_agent(const std::string& host) {
  const std::string metrics = "127.0.0.1:948" + host.substr(1);
  agents_[host] = std::make_unique<Program>(
      std::vector<std::string>{programs() / "rehearsal-agent", "--coordinator", "127.0.0.1:7470",
                               "--name", host, "--nic", host, "--metrics", metrics},
      folder() / (host + "-" + std::to_string(++runs_) + ".log"));
}

void RdmaCluster::kill_agent(const std::string& host) {
  agents_.at(host)->signal(SIGKILL);
  agents_.at(host)->wait();
}

void RdmaCluster::TearDown() {
  if (HasFailure()) print_logs();
  agents_.clear();
  coordinator_.reset();
}

void RdmaCluster::print_logs() const {
  for (const auto& entry : fs::directory_iterator{folder()})
    if (entry.path().extension() == ".log")
      std::cout << "--- " << entry.path().filename().string() << "\n"
                << read_whole(entry.path()) << "---\n";
}

Program RdmaCluster::rehearse(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{programs() / "rehearse"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return Program{command, folder() / ("rehearse-" + std::to_string(++runs_) + ".log")};
}

std::string RdmaCluster::rehearse(const std::vector<std::string>& arguments, int& code) {
  Program program = rehearse(arguments);
  code = program.wait().value_or(-1);
  return program.output();
}

bool RdmaCluster::wait_for_free_agents(std::size_t count) {
  const Instant deadline = now() + kPatience;
  while (now() < deadline) {
    int code = 0;
    const auto status = nlohmann::json::parse(rehearse({"status", "--json"}, code), nullptr, false);
    if (code == 0 && status.is_object() && status["agents"].size() == count) {
      std::size_t is_free = 0;
      for (const auto& agent : status["agents"]) is_free += agent["run"].is_null() ? 1 : 0;
      if (is_free == count) return true;
    }
    pause();
  }
  return false;
}

fs::path RdmaCluster::drill(const std::string& name, std::uint32_t hosts, const std::string& bytes,
                            std::uint32_t iterations, const std::string& transport,
                            const std::string& more) {
  const std::string profile = "profile-" + std::to_string(hosts) + "-" + bytes + ".yaml";
  std::ofstream{folder() / profile}
      << "profile: made\nranks: " << hosts << "\ncommunicators:\n  world: {ranks: 0-" << hosts - 1
      << "}\nclasses:\n  worker:\n    ranks: all\n    ops:\n"
      << "      - all_reduce: {name: gradients, communicator: world, bytes: " << bytes << "}\n"
      << "      - all_to_all: {name: exchange, communicator: world, bytes: " << bytes
      << ", after: gradients}\n"
      << "      - all_reduce: {name: flag, communicator: world, bytes: 8B, after: exchange}\n";
  const fs::path path = folder() / (name + ".yaml");
  std::ofstream stream{path};
  stream << "drill: " << name << "\niterations: " << iterations
         << "\ntransport:\n  kind: rdma\n  ack_timeout: 16\n  retry_count: 6\n"
         << (transport.find("completions:") == std::string::npos ? "  completions: event\n" : "")
         << transport << "collectives: {channels: 1, chunk: 64KiB, credits: 4}\n"
         << more << "jobs:\n  - {name: job, profile: " << profile << ", hosts: 'h[1-" << hosts
         << "]'}\n";
  return path;
}

nlohmann::json RdmaCluster::summary(const fs::path& run_folder) {
  return nlohmann::json::parse(read_whole(run_folder / "summary.json"), nullptr, false);
}

nlohmann::json RdmaCluster::pass(const fs::path& path) {
  const fs::path out = folder() / ("out-" + std::to_string(++runs_));
  int code = -1;
  const std::string output = rehearse({"run", path, "--out", out}, code);
  EXPECT_EQ(code, 0) << output;
  nlohmann::json report = summary(out);
  EXPECT_EQ(report["verdict"], "pass") << report["reasons"];
  return report;
}

void RdmaCluster::run_tool(std::vector<std::string> command) {
  const TemporaryFolder folder;
  Program program{std::move(command), folder.path() / "tool.log"};
  ASSERT_EQ(program.wait(), 0) << program.output();
}

void RdmaCluster::on_switch(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{"/sbin/ip", "-n", "sw"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  run_tool(std::move(command));
}

void RdmaCluster::traffic_control(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{"/sbin/ip", "netns", "exec", "sw", "/sbin/tc"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  run_tool(std::move(command));
}

std::uint64_t RdmaCluster::retransmissions() {
  std::uint64_t sum = 0;
  for (const std::uint32_t device : {1U, 2U})
    for (const char* name : {"duplicate_request", "out_of_seq_request", "completer_retry_err"})
      sum += device_counter(device, name);
  return sum;
}

void RdmaCluster::wait_for_port(std::uint32_t number) {
  const fs::path port = "/sys/class/infiniband/rd" + std::to_string(number) + "/ports/1";
  const Instant deadline = now() + kPatience;
  while (read_whole(port / "state").find("ACTIVE") == std::string::npos ||
         read_whole(port / "gids" / "1").find("ffff:0a00") == std::string::npos) {
    ASSERT_LT(now(), deadline) << "rd" << number << " does not come back";
    pause();
  }
}

void RdmaCluster::move_address(std::uint32_t number, bool back) {
  const std::string device = "h" + std::to_string(number);
  const std::string address = "10.0.0." + std::to_string(number);
  const std::string table = std::to_string(100 + number);
  if (!back) return run_tool({"/sbin/ip", "address", "del", address + "/24", "dev", device});
  run_tool({"/sbin/ip", "address", "add", address + "/24", "dev", device});
  run_tool({"/sbin/ip", "route", "replace", "local", address, "dev", device, "table", table});
  run_tool({"/sbin/ip", "route", "replace", "10.0.0.0/24", "dev", device, "src", address, "table",
            table});
  wait_for_port(number);
}

std::uint64_t RdmaCluster::bytes_sent(std::uint32_t number) {
  std::ifstream file{"/sys/class/net/h" + std::to_string(number) + "/statistics/tx_bytes"};
  std::uint64_t value = 0;
  EXPECT_TRUE(file >> value);
  return value;
}

std::uint64_t RdmaCluster::device_counter(std::uint32_t number, const std::string& name) {
  std::ifstream file{"/sys/class/infiniband/rd" + std::to_string(number) + "/ports/1/hw_counters/" +
                     name};
  std::uint64_t value = 0;
  EXPECT_TRUE(file >> value) << name;
  return value;
}

}  // namespace rehearsal::test
