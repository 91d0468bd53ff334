#pragma once

#include <cstdint>
#include <string_view>

namespace rehearsal::collective {

/// What a rank does with one slice, named after NCCL's primitives (src/device/prims_simple.h).
enum class Action : std::uint8_t {
  send,                   ///< send own data
  recv,                   ///< receive into the output
  recv_reduce,            ///< receive and reduce into the output
  recv_copy,              ///< receive and copy into the output (a final receive that is kept)
  recv_send,              ///< receive and pass on, nothing kept
  recv_copy_send,         ///< receive, keep and pass on
  recv_reduce_send,       ///< receive, reduce with own data, pass on
  recv_reduce_copy_send,  ///< receive, reduce with own data, keep and pass on
};

std::string_view to_string(Action action);

constexpr bool receives(Action action) { return action != Action::send; }
constexpr bool sends(Action action) {
  return action != Action::recv && action != Action::recv_reduce && action != Action::recv_copy;
}

/// One point-to-point piece of an expanded collective, at the granularity of a message (a slice).
/// Positions are those in the communicator.
struct Step {
  Action action = Action::send;
  std::uint32_t from = 0;  ///< position of the sender to us, if the action receives
  std::uint32_t to = 0;    ///< position of the receiver from us, if the action sends
  std::uint16_t channel = 0;
  /// Where the bytes stand. Rings, broadcast, reduce: in the op's whole array of S bytes.
  /// all_to_all, gather, scatter, send, recv: in the message of that pair of ranks.
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  ///< of data
  std::uint64_t wire = 0;   ///< size of the message: the data and the protocol's flags
};

}  // namespace rehearsal::collective
