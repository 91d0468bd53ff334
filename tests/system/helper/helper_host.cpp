#include "tests/system/helper/helper_host.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <regex>

namespace rehearsal::test {
namespace {

/// What goes to a program's standard input, line by line.
std::string with_input(const std::string& command, const std::vector<std::string>& lines) {
  std::string input;
  for (const std::string& line : lines) input += line + "\\n";
  return "printf '" + input + "' | " + command;
}

std::filesystem::path find_program(const std::string& name) {
  for (const char* folder : {"/usr/sbin", "/sbin", "/usr/bin", "/bin"}) {
    std::filesystem::path path = std::filesystem::path(folder) / name;
    if (std::filesystem::exists(path)) return path;
  }
  return {};
}

}  // namespace

std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "re");
  if (pipe == nullptr) return output;
  std::array<char, 4096> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), count);
  }
  ::pclose(pipe);
  return output;
}

std::string HelperHost::obstacle() {
  if (::geteuid() != 0) return "network namespaces take root";
  for (const char* name : {"ip", "tc", "setpriv"}) {
    if (find_program(name).empty()) return "no " + std::string(name) + " here (scripts/setup test)";
  }
  const std::string name = "rhh" + std::to_string(::getpid()) + "-check";
  const std::string problem =
      output_of("ip netns add " + name + " && ip -n " + name + " link add c type veth peer name d");
  output_of("ip netns del " + name);
  return problem.empty() ? "" : "network namespaces cannot be made here: " + problem;
}

HelperHost::HelperHost(const std::string& name)
    : namespace_("rhh" + std::to_string(::getpid()) + "-" + name) {
  EXPECT_EQ(output_of("ip netns add " + namespace_), "");
  make_interfaces();
  write_policy(permissive_policy());
}

HelperHost::~HelperHost() {
  helper_.reset();
  output_of("ip netns del " + namespace_);
}

void HelperHost::make_interfaces() {
  // Addresses that the kernel gives by itself would come and go by themselves.
  output_of("ip netns exec " + namespace_ +
            " sh -c 'echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6'");
  std::vector<std::string> links;
  for (const std::string n : {"1", "2", "3", "4"}) {
    links.push_back("link add e" + n + " address 02:00:00:00:00:0" + n + " type veth peer name p" +
                    n + " address 02:00:00:00:01:0" + n);
    links.push_back("link set e" + n + " up mtu 9000");
    links.push_back("link set p" + n + " up mtu 9000");
    links.push_back("address add 10.79." + n + ".1/24 dev e" + n);
  }
  EXPECT_EQ(output_of(with_input("ip -n " + namespace_ + " -batch -", links)), "");
  EXPECT_EQ(output_of(with_input(
                "tc -n " + namespace_ + " -batch -",
                {"qdisc add dev e1 ingress",
                 "filter add dev e1 parent ffff: protocol ip prio 5 u32 match ip dst 10.9.9.9 "
                 "flowid 1:1",
                 "qdisc add dev p1 root handle 1: htb default 10",
                 "class add dev p1 parent 1: classid 1:10 htb rate 10mbit",
                 "filter add dev p1 parent 1: protocol ip prio 7 u32 match ip dst 10.9.9.8 "
                 "flowid 1:10"})),
            "");
}

void HelperHost::remove_interfaces() {
  output_of(with_input("ip -n " + namespace_ + " -batch -",
                       {"link del e1", "link del e2", "link del e3", "link del e4"}));
}

void HelperHost::make_interfaces_again() {
  remove_interfaces();
  make_interfaces();
}

std::string HelperHost::state() const {
  std::vector<std::string> queues = {"qdisc show"};
  for (const std::string device : {"e1", "e2", "e3", "e4", "p1"}) {
    queues.push_back("class show dev " + device);
    queues.push_back("filter show dev " + device);
    queues.push_back("filter show dev " + device + " parent ffff:");
  }
  std::string text = output_of(with_input("ip -d -n " + namespace_ + " -batch -",
                                          {"link show", "address show", "route show table all"})) +
                     output_of(with_input("tc -n " + namespace_ + " -batch -", queues));
  // Numbers that count, and those that a new interface gets anew.
  static const std::regex kCounts(R"(refcnt \d+|^\d+: )", std::regex::multiline);
  return std::regex_replace(text, kCounts, "");
}

bool HelperHost::wait_for_state(const std::string& wanted, Duration patience) const {
  return wait_until([&] { return state() == wanted; }, patience);
}

std::string HelperHost::ip(const std::string& arguments) const {
  return output_of("ip -n " + namespace_ + " " + arguments);
}
std::string HelperHost::tc(const std::string& arguments) const {
  return output_of("tc -n " + namespace_ + " " + arguments);
}

void HelperHost::take_card(const std::string& name) const {
  EXPECT_EQ(output_of("ip link set " + name + " netns " + namespace_), "");
  EXPECT_EQ(ip("link set " + name + " up"), "");
}

std::string HelperHost::pause(const std::string& interface) const {
  return output_of("ip netns exec " + namespace_ + " ethtool -a " + interface);
}

void HelperHost::set_pause(const std::string& interface, const std::string& settings) const {
  // It says so when a setting is so already.
  output_of("ip netns exec " + namespace_ + " ethtool -A " + interface + " " + settings);
}

void HelperHost::write_policy(const std::string& text) {
  std::ofstream(folder_.path() / "policy.yaml") << text;
  std::filesystem::permissions(folder_.path() / "policy.yaml", std::filesystem::perms{0644});
}

std::string HelperHost::permissive_policy() {
  return "agent: 0\n"
         "faults: [rate, delay, loss, duplicate, reorder, corrupt, blackhole, link_down, mtu]\n"
         "interfaces: [e1, e2, e3, e4]\n"
         "duration_max: 1min\n"
         "test_stops: true\n";
}

std::filesystem::path HelperHost::log_path(const std::string& name) {
  return folder_.path() / (name + std::to_string(++logs_) + ".log");
}

std::vector<std::string> HelperHost::helper_command(const std::vector<std::string>& more) const {
  std::vector<std::string> command = {find_program("ip"),
                                      "netns",
                                      "exec",
                                      namespace_,
                                      find_program("setpriv"),
                                      "--bounding-set=-all,+net_admin",
                                      "--inh-caps=-all",
                                      programs() / "rehearsal-helper",
                                      "--policy",
                                      folder_.path() / "policy.yaml",
                                      "--state",
                                      folder_.path() / "state",
                                      "--socket",
                                      socket_path()};
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

void HelperHost::start_helper(const std::vector<std::string>& environment, Duration patience) {
  helper_ = std::make_unique<Program>(helper_command(), log_path("helper"), environment);
  if (patience > Duration::zero()) {
    EXPECT_TRUE(helper_->wait_for_output("ready on", patience)) << helper_->output();
  }
}

void HelperHost::kill_helper() {
  helper_->signal(SIGKILL);
  EXPECT_TRUE(helper_->wait());
}

int HelperHost::stop_helper() {
  helper_->signal(SIGTERM);
  return helper_->wait().value_or(-1);
}

std::unique_ptr<Program> HelperHost::agent(const std::string& lease, const std::string& mode,
                                           const std::vector<std::string>& faults,
                                           const std::vector<std::string>& before) {
  std::vector<std::string> command = before;
  command.insert(command.end(), {programs().parent_path() / "tests" / "agent_stand_in",
                                 socket_path(), lease, mode});
  command.insert(command.end(), faults.begin(), faults.end());
  return std::make_unique<Program>(command, log_path("agent"));
}

std::unique_ptr<Program> HelperHost::undo_all() {
  return std::make_unique<Program>(helper_command({"--undo-all"}), log_path("undo"));
}

}  // namespace rehearsal::test
