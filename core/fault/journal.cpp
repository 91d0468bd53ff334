#include "core/fault/journal.hpp"

#include <algorithm>
#include <optional>

#include "core/base/check.hpp"
#include "core/base/encoding.hpp"
#include "core/fault/fault_codec.hpp"

namespace rehearsal::fault {
namespace {

constexpr std::string_view kHeader = "rehearsal-helper journal 1\n";
constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kChecksumBytes = 16;
constexpr std::size_t kFrameBytes = kLengthBytes + kChecksumBytes;
constexpr std::size_t kBootIdMax = 64;
constexpr std::size_t kOptionsMax = 4096;

enum class Tag : std::uint8_t { intent = 1, applied, closed };

std::string checksum(std::string_view content) {
  return sha256_hex(content).substr(0, kChecksumBytes);
}

std::size_t length_at(std::string_view bytes) {
  std::size_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) {
    length = length << 8 | static_cast<std::uint8_t>(bytes[i]);
  }
  return length;
}

struct RecordEncoder {
  Encoder& to;
  void operator()(const Intent& intent) const {
    to.number(static_cast<std::uint64_t>(Tag::intent));
    to.number(intent.id);
    encode(to, intent.fault);
    encode(to, intent.before);
    encode(to, intent.change);
    to.text(intent.boot_id);
    encode(to, intent.deadline.time_since_epoch());
    to.number(intent.wall_ns);
  }
  void operator()(const AppliedRecord& applied) const {
    to.number(static_cast<std::uint64_t>(Tag::applied));
    to.number(applied.id);
    to.text(applied.left);
  }
  void operator()(const ClosedRecord& closed) const {
    to.number(static_cast<std::uint64_t>(Tag::closed));
    to.number(closed.id);
    to.number(static_cast<std::uint64_t>(closed.closing));
  }
};

Result<Intent> take_intent(Decoder& from) {
  Intent intent;
  ASSIGN_OR_RETURN(intent.id, from.number());
  ASSIGN_OR_RETURN(intent.fault, decode_fault(from));
  ASSIGN_OR_RETURN(intent.before, decode_state(from));
  ASSIGN_OR_RETURN(intent.change, decode_change(from));
  ASSIGN_OR_RETURN(intent.boot_id, from.text(kBootIdMax));
  ASSIGN_OR_RETURN(const Duration deadline, decode_duration(from));
  intent.deadline = Instant{deadline};
  ASSIGN_OR_RETURN(intent.wall_ns, from.number());
  return intent;
}

Result<JournalRecord> take_record(Decoder& from) {
  ASSIGN_OR_RETURN(const auto tag, from.number());
  switch (static_cast<Tag>(std::min<std::uint64_t>(tag, 255))) {
    case Tag::intent:
      return take_intent(from).map([](Intent&& intent) -> JournalRecord { return intent; });
    case Tag::applied: {
      AppliedRecord applied;
      ASSIGN_OR_RETURN(applied.id, from.number());
      ASSIGN_OR_RETURN(applied.left, from.text(kOptionsMax));
      return applied;
    }
    case Tag::closed: {
      ClosedRecord closed;
      ASSIGN_OR_RETURN(closed.id, from.number());
      constexpr auto kLast = static_cast<std::uint64_t>(Closing::accepted);
      ASSIGN_OR_RETURN(const auto closing, from.number_up_to(kLast, "a closing"));
      closed.closing = static_cast<Closing>(closing);
      return closed;
    }
  }
  return invalid("there is no record with number " + std::to_string(tag));
}

bool all_zero(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == '\0'; });
}

/// The content of the record that `bytes` begin with, if it is whole.
std::optional<std::string_view> content_at(std::string_view bytes) {
  if (bytes.size() < kFrameBytes) return std::nullopt;
  const std::size_t length = length_at(bytes);
  if (length == 0 || length > kRecordBytesMax || bytes.size() < kFrameBytes + length) {
    return std::nullopt;
  }
  const std::string_view content = bytes.substr(kFrameBytes, length);
  const std::string_view sum = bytes.substr(kLengthBytes, kChecksumBytes);
  if (sum.find_first_not_of("0123456789abcdef") != std::string_view::npos) return std::nullopt;
  if (sum != checksum(content)) return std::nullopt;
  return content;
}

/// A record that is not whole is torn if it is the last one. A file system may have made the file
/// longer before it wrote what stands there.
JournalEnd torn_or_damaged(std::string_view rest) {
  if (rest.size() < kFrameBytes || all_zero(rest)) return JournalEnd::torn;
  if (rest.size() > kFrameBytes + kRecordBytesMax) return JournalEnd::damaged;
  const std::size_t length = length_at(rest);
  if (length == 0 || length > kRecordBytesMax || rest.size() > kFrameBytes + length) {
    return JournalEnd::damaged;
  }
  for (std::size_t at = 1; at + kFrameBytes < rest.size(); ++at) {
    if (content_at(rest.substr(at))) return JournalEnd::damaged;  // its length is what is wrong
  }
  return JournalEnd::torn;
}

Result<JournalRecord> record_of(std::string_view content) {
  Decoder from(content);
  ASSIGN_OR_RETURN(JournalRecord record, take_record(from));
  if (from.remaining() > 0) return invalid("a record with bytes left over");
  return record;
}

void stop_at(Journal& journal, JournalEnd end, std::string_view what) {
  journal.end = end;
  if (end == JournalEnd::damaged) {
    journal.problem = "byte " + std::to_string(journal.whole_bytes) + ": " + std::string(what);
  }
}

}  // namespace

std::string_view to_string(Closing closing) {
  switch (closing) {
    case Closing::undone:
      return "undone";
    case Closing::gone:
      return "gone";
    case Closing::never_done:
      return "never_done";
    case Closing::conflict:
      return "conflict";
    case Closing::accepted:
      return "accepted";
  }
  return "?";
}

std::string_view journal_header() { return kHeader; }

std::string encode_record(const JournalRecord& record) {
  Encoder content;
  std::visit(RecordEncoder{content}, record);
  const std::size_t length = content.bytes().size();
  CHECK(length <= kRecordBytesMax, "a record within its cap: the state of an interface has one");
  std::string bytes;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    bytes.push_back(static_cast<char>(length >> (8 * i) & 0xFF));
  }
  return bytes + checksum(content.bytes()) + content.bytes();
}

Journal read_journal(std::string_view bytes) {
  Journal journal;
  if (!bytes.starts_with(kHeader)) {
    const bool is_beginning = kHeader.starts_with(bytes) || all_zero(bytes);
    stop_at(journal, is_beginning ? JournalEnd::torn : JournalEnd::damaged,
            "no journal's beginning");
    if (bytes.empty()) journal.end = JournalEnd::whole;
    return journal;
  }
  journal.whole_bytes = kHeader.size();
  while (journal.whole_bytes < bytes.size()) {
    const std::string_view rest = bytes.substr(journal.whole_bytes);
    const auto content = content_at(rest);
    if (!content) {
      stop_at(journal, torn_or_damaged(rest), "a record that does not match its checksum");
      return journal;
    }
    auto record = record_of(*content);
    if (!record) {
      stop_at(journal, JournalEnd::damaged, record.error().text());
      return journal;
    }
    journal.records.push_back(std::move(*record));
    journal.whole_bytes += kFrameBytes + content->size();
  }
  return journal;
}

}  // namespace rehearsal::fault
