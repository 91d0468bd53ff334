#include "cli/demo_cluster.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "cli/operator_session.hpp"
#include "runtime/clock.hpp"
#include "runtime/files.hpp"

namespace rehearsal::cli {
namespace {

namespace fs = std::filesystem;

constexpr Duration kStartLimit = std::chrono::seconds{10};
constexpr Duration kEndGrace = std::chrono::seconds{1};
/// Between two looks at what other processes bring about.
constexpr Duration kLookInterval = std::chrono::milliseconds{5};

/// The last line that a program wrote, for an error message.
std::string last_line(const fs::path& log) {
  const auto text = runtime::read_file(log, Bytes{1U << 20});
  if (!text || text->empty()) return "it wrote nothing";
  const std::size_t end = text->find_last_not_of('\n');
  if (end == std::string::npos) return "it wrote nothing";
  const std::size_t begin = text->rfind('\n', end);
  return "its last line: " + text->substr(begin + 1, end - begin);
}

Failure not_started(const std::string& who, const std::string& why, const fs::path& log) {
  return fail(ErrorCode::system, ErrorSource::host, who + " " + why + "; " + last_line(log));
}

/// The value of `key` in the file that a daemon writes when it listens; empty until then.
std::string announced(const fs::path& path, const char* key) {
  const auto text = runtime::read_file(path, Bytes{1U << 16});
  if (!text) return "";
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains(key) || !json[key].is_string()) return "";
  return json[key].get<std::string>();
}

Result<std::vector<std::string>> joined_hosts(OperatorSession& session) {
  protocol::Envelope request;
  request.mutable_status_request();
  RETURN_IF_ERROR(session.send(request));
  ASSIGN_OR_RETURN(const protocol::Envelope answer,
                   session.expect(protocol::Envelope::kStatusReply, kStartLimit, "its status"));
  std::vector<std::string> hosts;
  for (const protocol::AgentStatus& agent : answer.status_reply().agents())
    hosts.push_back(agent.host());
  return hosts;
}

}  // namespace

DemoCluster::Folder::~Folder() {
  std::error_code ignored;
  if (!path.empty()) fs::remove_all(path, ignored);
}

DemoCluster::~DemoCluster() {
  // All are told before any is waited for.
  for (ChildProcess& process : processes_) process.signal(SIGTERM);
  for (ChildProcess& process : processes_) process.end(kEndGrace);
}

fs::path DemoCluster::file(const std::string& name, const char* ending) const {
  return folder_.path / (name + ending);
}

Result<void> DemoCluster::make_folder() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "rehearse-demo-XXXXXX").string();
  if (error || mkdtemp(name.data()) == nullptr)
    return system_failure(ErrorSource::host, "making a temporary folder", errno);
  folder_.path = name;
  return {};
}

Result<void> DemoCluster::start_coordinator(const fs::path& program) {
  const fs::path log = file("coordinator", ".log");
  ASSIGN_OR_RETURN(
      ChildProcess process,
      ChildProcess::start({
          .command = {program, "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--store",
                      folder_.path / "store", "--announce", file("coordinator", ".announce")},
          .output = log,
      }));
  processes_.push_back(std::move(process));
  const Instant deadline = runtime::now() + kStartLimit;
  while (true) {
    coordinator_ = announced(file("coordinator", ".announce"), "control");
    if (!coordinator_.empty()) return {};
    // Waits for the process, so that its end is seen at once.
    if (processes_.back().wait(runtime::now() + kLookInterval))
      return not_started("rehearsald", "ended at once", log);
    if (runtime::now() > deadline) return not_started("rehearsald", "is not ready in time", log);
  }
}

Result<void> DemoCluster::start_agent(const fs::path& program, const std::string& host) {
  const std::string config = "name: " + host + "\ncoordinator: " + coordinator_ +
                             "\nmetrics: 127.0.0.1:0\nshared_nics: true\nnics:\n  - name: lo\n";
  RETURN_IF_ERROR(runtime::write_file_atomically(file(host, ".yaml"), config));
  ASSIGN_OR_RETURN(ChildProcess process, ChildProcess::start({
                                             .command = {program, "--config", file(host, ".yaml")},
                                             .output = file(host, ".log"),
                                         }));
  processes_.push_back(std::move(process));
  hosts_.push_back(host);
  return {};
}

Result<void> DemoCluster::wait_until_joined() {
  ASSIGN_OR_RETURN(OperatorSession session, OperatorSession::open(coordinator_));
  const Instant deadline = runtime::now() + kStartLimit;
  while (true) {
    ASSIGN_OR_RETURN(const std::vector<std::string> joined, joined_hosts(session));
    if (joined.size() == hosts_.size()) return {};
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      const bool has_joined = std::find(joined.begin(), joined.end(), hosts_[i]) != joined.end();
      if (has_joined) continue;
      if (processes_[i + 1].wait(runtime::now() + kLookInterval))
        return not_started("agent " + hosts_[i], "ended at once", file(hosts_[i], ".log"));
      if (runtime::now() > deadline)
        return not_started("agent " + hosts_[i], "did not join in time", file(hosts_[i], ".log"));
    }
  }
}

std::vector<std::string> DemoCluster::host_names(std::uint32_t agents) {
  std::vector<std::string> names;
  for (std::uint32_t i = 1; i <= agents; ++i) names.push_back("demo" + std::to_string(i));
  return names;
}

Result<DemoCluster> DemoCluster::start(const fs::path& programs, std::uint32_t agents) {
  DemoCluster cluster;
  RETURN_IF_ERROR(cluster.make_folder());
  RETURN_IF_ERROR(cluster.start_coordinator(programs / "rehearsald"));
  for (const std::string& host : host_names(agents))
    RETURN_IF_ERROR(cluster.start_agent(programs / "rehearsal-agent", host));
  RETURN_IF_ERROR(cluster.wait_until_joined());
  return cluster;
}

}  // namespace rehearsal::cli
