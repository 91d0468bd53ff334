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

/// Inside the virtual machine of scripts/rdma-vm: a coordinator, and an agent on each of the hosts
/// h1 … (interface, and device rd1 …), as processes. On failure all logs are printed.
class RdmaCluster : public testing::Test {
 protected:
  void TearDown() override;

  void start(std::uint32_t hosts);
  void start_agent(const std::string& host);
  void kill_agent(const std::string& host);
  bool wait_for_free_agents(std::size_t count);

  Program rehearse(const std::vector<std::string>& arguments);
  std::string rehearse(const std::vector<std::string>& arguments, int& code);
  /// A drill over RDMA on the first `hosts` hosts, one rank each; `transport` are further keys,
  /// `more` goes to the top level.
  std::filesystem::path drill(const std::string& name, std::uint32_t hosts,
                              const std::string& bytes, std::uint32_t iterations,
                              const std::string& transport = "", const std::string& more = "");
  nlohmann::json summary(const std::filesystem::path& run_folder);
  /// Runs a drill to its end and expects that it passes; returns its summary.
  nlohmann::json pass(const std::filesystem::path& drill);

  /// `ip ARGUMENTS…` on the switch between the hosts.
  static void on_switch(const std::vector<std::string>& arguments);
  /// `tc ARGUMENTS…` on the switch.
  static void traffic_control(const std::vector<std::string>& arguments);
  /// Of device rd<number>: sent_pkts, completer_retry_err …
  static std::uint64_t device_counter(std::uint32_t number, const std::string& name);

  /// Packets that the devices rd1 and rd2 sent again or saw again.
  static std::uint64_t retransmissions();
  /// Until the port of rd<number> is active and has its IPv4 GID.
  static void wait_for_port(std::uint32_t number);
  /// Takes the address (and so the GID) from host h<number>, or gives it back, with its routes.
  static void move_address(std::uint32_t number, bool back);
  /// Bytes sent by interface h<number>, as the kernel counts them.
  static std::uint64_t bytes_sent(std::uint32_t number);

  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  static void run_tool(std::vector<std::string> command);
  void print_logs() const;

  TemporaryFolder folder_;
  std::unique_ptr<Program> coordinator_;
  std::map<std::string, std::unique_ptr<Program>> agents_;
  int runs_ = 0;
};

}  // namespace rehearsal::test
