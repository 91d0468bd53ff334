#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.hpp"
#include "tests/system/program.hpp"

namespace rehearsal::test {

/// Four hosts with two rails each, in network namespaces of scripts/cluster, a coordinator and an
/// agent on each host. Tests skip where namespaces cannot be made. On failure all logs are printed.
class SystemCluster : public testing::Test {
 protected:
  static constexpr std::uint32_t kHosts = 4;
  static constexpr std::uint32_t kRails = 2;

  /// Options of scripts/cluster.
  explicit SystemCluster(std::vector<std::string> options = {}) : options_(std::move(options)) {}

  void SetUp() override;
  void TearDown() override;

  /// `rehearse ARGUMENTS…` beside the coordinator.
  Program rehearse(const std::vector<std::string>& arguments);
  /// Runs it to its end; its exit code goes to `code`.
  std::string rehearse(const std::vector<std::string>& arguments, int& code);

  /// A drill file of one job on these hosts ("h1" …); `more` is added at the top level.
  std::filesystem::path drill(const std::string& name, const std::string& profile,
                              std::uint32_t iterations, const std::vector<std::string>& hosts,
                              const std::string& more = "");
  /// A profile of `ranks` ranks: all_reduce of `bytes` ("8MiB") and an all_to_all, after `compute`.
  std::string profile(std::uint32_t ranks, const std::string& bytes, const std::string& compute);
  /// A drill that takes minutes, on all four hosts.
  std::filesystem::path long_drill();

  /// The agent of "h1" …, its helper ("h1-helper"), or the coordinator ("head").
  void signal(const std::string& name, int number);
  void restart_agent(const std::string& host);
  void restart_coordinator();
  /// Until `rehearse status` shows so many agents that are free.
  bool wait_for_free_agents(std::size_t count, Duration patience = kPatience);
  bool has_free_agents(std::size_t count);

  /// Bytes through one data interface, from the kernel ("sent", "received" of rail0 …).
  struct Counters {
    std::uint64_t received = 0;
    std::uint64_t sent = 0;
  };
  Counters counters(const std::string& host, std::uint32_t rail);
  /// Bytes sent through all data interfaces.
  std::uint64_t sent_by_all();
  /// Bytes sent through all data interfaces in `window` from now.
  std::uint64_t sent_within(Duration window);

  /// Shapes what every host's rail0 receives, at the bridge, to `rate` as tc writes it ("100mbit").
  /// False: the kernel cannot.
  bool shape(const std::string& rate);

  /// `command` in the namespace of "h1" …
  std::vector<std::string> on_host(const std::string& host,
                                   const std::vector<std::string>& command) {
    return inside(host, command);
  }
  /// `command` in the namespace of the bridges.
  std::vector<std::string> bridge_command(const std::vector<std::string>& command) {
    return inside("net", command);
  }

  nlohmann::json summary(const std::filesystem::path& run_folder);
  /// Seconds that the collective of a job with one took in the run of folder() / "out": the median
  /// over iterations [begin, end), each of which must be there.
  double median(const std::string& job, std::uint32_t begin, std::uint32_t end);
  const std::filesystem::path& folder() const { return folder_.path(); }
  /// Of scripts/cluster: configuration, logs, pids.
  const std::filesystem::path& cluster_folder() const { return cluster_folder_; }
  static std::vector<std::string> all_hosts() { return {"h1", "h2", "h3", "h4"}; }

 private:
  std::string in_namespace(const std::string& name) const { return prefix_ + name; }
  std::vector<std::string> inside(const std::string& name, const std::vector<std::string>& command);
  pid_t pid_of(const std::string& name) const;
  void print_logs() const;

  std::vector<std::string> options_;
  TemporaryFolder folder_;
  std::filesystem::path cluster_folder_ = folder_.path() / "cluster";
  std::string prefix_;  ///< of the namespaces
  std::unique_ptr<Program> script_;
  std::map<std::string, std::unique_ptr<Program>> restarted_;
  std::map<std::string, pid_t> anchors_;  ///< a process in each host's namespace
  std::vector<std::unique_ptr<Program>> anchor_programs_;
  int runs_ = 0;
};

}  // namespace rehearsal::test
