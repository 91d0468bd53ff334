#include "core/collective/step.hpp"

namespace rehearsal::collective {

std::string_view to_string(Action action) {
  switch (action) {
    case Action::send:
      return "send";
    case Action::recv:
      return "recv";
    case Action::recv_reduce:
      return "recv_reduce";
    case Action::recv_copy:
      return "recv_copy";
    case Action::recv_send:
      return "recv_send";
    case Action::recv_copy_send:
      return "recv_copy_send";
    case Action::recv_reduce_send:
      return "recv_reduce_send";
    case Action::recv_reduce_copy_send:
      return "recv_reduce_copy_send";
  }
  return "unknown";
}

}  // namespace rehearsal::collective
