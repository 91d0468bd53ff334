#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "core/fault/helper_messages.hpp"

namespace asio {
class io_context;
}

namespace rehearsal::agent {

struct HelperLinkHandlers {
  /// A connection, and what the helper said to hello.
  std::function<void(fault::WelcomeReply)> on_up;
  std::function<void(std::uint64_t ticket, fault::HelperReply)> on_answer;
  /// The connection is gone, or an attempt failed for another reason than the one before; what was
  /// asked and not answered is forgotten.
  std::function<void(std::string reason)> on_down;
};

/// The agent's connection to its host's helper, kept for as long as the agent lives: attempts again
/// and again, one request at a time, answers with a deadline. The faults that were asked for on it
/// are undone by the helper when it closes, by whatever way this process ends. One thread; handlers
/// are never called from inside a call. It decides nothing.
class HelperLink {
 public:
  HelperLink(asio::io_context& context, std::filesystem::path socket, HelperLinkHandlers handlers,
             Duration greeting_patience = fault::kGreetingPatience);
  ~HelperLink();
  HelperLink(const HelperLink&) = delete;
  HelperLink& operator=(const HelperLink&) = delete;

  void start();
  /// Without a connection it is forgotten: on_down was told.
  void ask(std::uint64_t ticket, const fault::HelperRequest& request);
  /// Closes the connection → on_down, and tries again.
  void drop(const std::string& reason);
  /// Closes the connection; nothing more is heard.
  void close();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  ///< Asio's operations keep it alive until they are done
};

}  // namespace rehearsal::agent
