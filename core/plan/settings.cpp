#include "core/plan/settings.hpp"

#include <array>

#include "core/base/names.hpp"

namespace rehearsal::plan {

std::string_view to_string(TransportKind kind) {
  switch (kind) {
    case TransportKind::loopback:
      return "loopback";
    case TransportKind::tcp:
      return "tcp";
    case TransportKind::rdma:
      return "rdma";
  }
  return "?";
}

std::string_view to_string(RdmaOperation operation) {
  switch (operation) {
    case RdmaOperation::write:
      return "write";
    case RdmaOperation::send:
      return "send";
  }
  return "?";
}

std::string_view to_string(QueuePairUse use) {
  switch (use) {
    case QueuePairUse::round_robin:
      return "round_robin";
    case QueuePairUse::split:
      return "split";
  }
  return "?";
}

std::string_view to_string(CompletionMode mode) {
  switch (mode) {
    case CompletionMode::poll:
      return "poll";
    case CompletionMode::event:
      return "event";
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

std::string_view to_string(Stage stage) {
  switch (stage) {
    case Stage::before:
      return "before";
    case Stage::during:
      return "during";
    case Stage::after:
      return "after";
  }
  return "?";
}

std::optional<Stage> stage_from(std::string_view name) {
  constexpr std::array kStages = {Stage::before, Stage::during, Stage::after};
  return value_named(kStages, name);
}

}  // namespace rehearsal::plan
