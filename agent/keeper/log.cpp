#include "agent/keeper/log.hpp"

#include <cstdio>
#include <cstdlib>

namespace rehearsal::agent {
namespace {

/// For systemd's journal a line begins with its level (sd-daemon(3)); for people it says so.
const char* prefix(fault::KeeperEvent::Severity severity) {
  const bool is_journal = std::getenv("JOURNAL_STREAM") != nullptr;
  switch (severity) {
    case fault::KeeperEvent::Severity::info:
      return is_journal ? "<6>" : "info ";
    case fault::KeeperEvent::Severity::warning:
      return is_journal ? "<4>" : "warning ";
    case fault::KeeperEvent::Severity::error:
      break;
  }
  return is_journal ? "<3>" : "error ";
}

}  // namespace

void log_line(fault::KeeperEvent::Severity severity, const std::string& text) {
  std::string plain = text;
  for (char& c : plain) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  std::fprintf(stderr, "%s%s\n", prefix(severity), plain.c_str());
}

void log_events(fault::FaultKeeper& keeper) {
  for (const fault::KeeperEvent& event : keeper.take_events()) log_line(event.severity, event.text);
}

}  // namespace rehearsal::agent
