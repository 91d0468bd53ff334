#include "core/plan/settings.hpp"

namespace rehearsal::plan {

std::string_view to_string(TransportKind kind) {
  switch (kind) {
    case TransportKind::loopback:
      return "loopback";
    case TransportKind::tcp:
      return "tcp";
  }
  return "?";
}

std::string_view to_string(ReceiveMode mode) {
  switch (mode) {
    case ReceiveMode::copy:
      return "copy";
    case ReceiveMode::discard:
      return "discard";
  }
  return "?";
}

std::string_view to_string(SyncMode mode) {
  switch (mode) {
    case SyncMode::free:
      return "free";
    case SyncMode::iteration:
      return "iteration";
    case SyncMode::phase:
      return "phase";
  }
  return "?";
}

}  // namespace rehearsal::plan
