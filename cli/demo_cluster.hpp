#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/child_process.hpp"
#include "core/base/result.hpp"

namespace rehearsal::cli {

/// A coordinator and agents as processes of their own on the loopback interface, with free ports
/// and their files in a temporary folder. All of them end, and the folder goes, with this object.
class DemoCluster {
 public:
  /// The programs lie in `programs`. Returns when all agents have joined, or says which one did not
  /// and what it wrote.
  static Result<DemoCluster> start(const std::filesystem::path& programs, std::uint32_t agents);
  /// What so many agents are called: "demo1" …
  static std::vector<std::string> host_names(std::uint32_t agents);
  DemoCluster(DemoCluster&&) noexcept = default;
  DemoCluster& operator=(DemoCluster&&) = delete;
  ~DemoCluster();

  /// "127.0.0.1:40123".
  const std::string& coordinator() const { return coordinator_; }

 private:
  /// A folder that goes with its owner.
  struct Folder {
    std::filesystem::path path;
    Folder() = default;
    Folder(Folder&& other) noexcept : path(std::exchange(other.path, {})) {}
    Folder& operator=(Folder&&) = delete;
    ~Folder();
  };

  DemoCluster() = default;
  Result<void> make_folder();
  Result<void> start_coordinator(const std::filesystem::path& program);
  Result<void> start_agent(const std::filesystem::path& program, const std::string& host);
  Result<void> wait_until_joined();
  std::filesystem::path file(const std::string& name, const char* ending) const;

  Folder folder_;
  std::string coordinator_;
  std::vector<std::string> hosts_;
  std::vector<ChildProcess> processes_;  ///< the coordinator, then the agents in order of hosts_
};

}  // namespace rehearsal::cli
