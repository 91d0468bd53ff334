#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.hpp"
#include "tests/system/program.hpp"

namespace rehearsal::test {

/// What a command wrote to both its outputs.
std::string output_of(const std::string& command);

/// A host in a network namespace of its own: interfaces e1 … e4 whose peers are p1 … p4, with
/// entries of others on them (an ingress filter on e1; classes and filters on p1), and a helper
/// with nothing but CAP_NET_ADMIN.
class HelperHost {
 public:
  explicit HelperHost(const std::string& name);
  ~HelperHost();
  HelperHost(const HelperHost&) = delete;
  HelperHost& operator=(const HelperHost&) = delete;

  /// Why there cannot be one here; empty: there can.
  static std::string obstacle();

  /// A restart of the kernel, as far as interfaces are concerned.
  void make_interfaces_again();
  /// Links, addresses, routes, queueing disciplines, classes and filters, without numbers that
  /// count.
  std::string state() const;
  /// Until the state is this; false after `patience`.
  bool wait_for_state(const std::string& wanted, Duration patience = kPatience) const;
  /// `ip` or `tc` inside.
  std::string ip(const std::string& arguments) const;
  std::string tc(const std::string& arguments) const;

  /// Has this network card of the machine from now on; it goes back with the namespace.
  void take_card(const std::string& name) const;
  /// What `ethtool` says of an interface's pause frames, and sets of them ("rx on tx off").
  std::string pause(const std::string& interface) const;
  void set_pause(const std::string& interface, const std::string& settings) const;

  void write_policy(const std::string& text);
  /// Allows everything on e1 … e4 for a minute.
  static std::string permissive_policy();

  /// Starts it and waits until it is ready or, with `patience` zero, not.
  void start_helper(const std::vector<std::string>& environment = {},
                    Duration patience = kPatience);
  Program& helper() { return *helper_; }
  /// SIGKILL.
  void kill_helper();
  /// SIGTERM; its exit code.
  int stop_helper();

  /// tests/system/helper/agent_stand_in.cpp; `before` goes before the command.
  std::unique_ptr<Program> agent(const std::string& lease, const std::string& mode,
                                 const std::vector<std::string>& faults,
                                 const std::vector<std::string>& before = {});
  /// `rehearsal-helper --undo-all`, without or beside a running one.
  std::unique_ptr<Program> undo_all();

  std::filesystem::path socket_path() const { return folder_.path() / "socket"; }
  std::filesystem::path log_path(const std::string& name);

 private:
  std::vector<std::string> helper_command(const std::vector<std::string>& more = {}) const;
  void remove_interfaces();
  void make_interfaces();

  TemporaryFolder folder_;
  std::string namespace_;
  std::unique_ptr<Program> helper_;
  int logs_ = 0;
};

}  // namespace rehearsal::test
