#pragma once

#include <filesystem>
#include <optional>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "core/fault/helper_messages.hpp"

namespace rehearsal::agent {

inline constexpr const char* kHelperSocketPath = "/run/rehearsal-helper/socket";
inline constexpr const char* kExternalSocketPath = "/run/rehearsal-external/socket";

/// A connection to the helper of this host. The faults that are asked for on it are undone when it
/// is closed, by whatever way this process ends. Calls wait for the answer, at most a few seconds
/// (of rehearsal-external as long as its commands may take): the helper answers when the kernel
/// has.
class HelperClient {
 public:
  /// not_found: no helper here. Refused: it does not talk to this user.
  static Result<HelperClient> connect(const std::filesystem::path& socket_path,
                                      Duration greeting_patience = fault::kGreetingPatience);
  HelperClient(HelperClient&& other) noexcept;
  HelperClient& operator=(HelperClient&& other) noexcept;
  ~HelperClient();

  /// What the helper said to hello: what the host allows.
  const fault::WelcomeReply& welcome() const { return welcome_; }

  /// Returns the fault's number. Renew its lease before it runs out.
  Result<std::uint64_t> apply(const fault::FaultRequest& request);
  Result<std::uint64_t> renew(std::optional<std::uint64_t> id, Duration lease);
  Result<fault::UndoneReply> undo(std::optional<std::uint64_t> id);
  Result<fault::ListReply> list();
  Result<fault::UndoneReply> clear(bool accept_stuck);

  /// To notice that the helper is gone.
  int descriptor() const { return descriptor_; }

 private:
  explicit HelperClient(int descriptor) : descriptor_(descriptor) {}
  Result<void> be_patient(Duration time);
  template <typename Reply>
  Result<Reply> ask(const fault::HelperRequest& request);

  int descriptor_ = -1;
  fault::WelcomeReply welcome_;
};

}  // namespace rehearsal::agent
