#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "core/fault/change.hpp"
#include "core/fault/interface_state.hpp"
#include "core/fault/kernel_fault.hpp"

namespace rehearsal::fault {

/// Written, and on disk, before anything is touched: enough to undo the fault without anybody's
/// memory.
struct Intent {
  std::uint64_t id = 0;
  KernelFault fault;
  InterfaceState before;
  Change change;
  std::string boot_id;        ///< of this start of the kernel: its clock and its state go with it
  Instant deadline{};         ///< CLOCK_MONOTONIC of that boot
  std::uint64_t wall_ns = 0;  ///< when, for people: nanoseconds since 1970
  bool operator==(const Intent&) const = default;
};

/// The change was made, and read back.
struct AppliedRecord {
  std::uint64_t id = 0;
  /// Options of our root queueing discipline as the kernel told them; of a command, that its check
  /// said so, and empty again once its undoing has begun.
  std::string left;
  bool operator==(const AppliedRecord&) const = default;
};

enum class Closing : std::uint8_t {
  undone,      ///< read back: as before the fault
  gone,        ///< with its interface, or with a reboot
  never_done,  ///< the kernel refused it
  conflict,  ///< somebody else changed it since; their change was left, and an operator accepted it
  accepted,  ///< could not be undone; an operator accepted what is there
};
std::string_view to_string(Closing closing);

/// Nothing more is to be done about it.
struct ClosedRecord {
  std::uint64_t id = 0;
  Closing closing = Closing::undone;
  bool operator==(const ClosedRecord&) const = default;
};

using JournalRecord = std::variant<Intent, AppliedRecord, ClosedRecord>;

/// Caps: on a record, and on a file that is read at all.
inline constexpr std::size_t kRecordBytesMax = 64 * 1024;
inline constexpr std::size_t kJournalBytesMax = 4 * 1024 * 1024;

/// What stands at the beginning of each file.
std::string_view journal_header();

/// One record as it stands in the file: length, checksum, content. It is whole, or seen to be torn.
std::string encode_record(const JournalRecord& record);

enum class JournalEnd : std::uint8_t {
  whole,
  /// The last record is not whole: written while the helper or the machine died, so nothing was
  /// done about it yet.
  torn,
  /// Something before the end is wrong: what came after it is not known.
  damaged,
};

struct Journal {
  std::vector<JournalRecord> records;
  JournalEnd end = JournalEnd::whole;
  std::size_t whole_bytes = 0;  ///< up to here the file is good
  std::string problem;          ///< damaged: what is wrong
};

/// Any bytes are a journal; how good it is, `end` says.
Journal read_journal(std::string_view bytes);

}  // namespace rehearsal::fault
