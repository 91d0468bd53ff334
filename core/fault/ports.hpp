#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/result.hpp"
#include "core/fault/change.hpp"
#include "core/fault/interface_state.hpp"
#include "core/fault/journal.hpp"

namespace rehearsal::fault {

/// The kernel's network as the keeper of faults sees it. Netlink stands behind it, or a test.
class KernelPort {
 public:
  virtual ~KernelPort() = default;

  virtual Result<LinkTable> links() = 0;
  /// not_found when there is no such interface (any more).
  virtual Result<InterfaceState> read(std::uint32_t interface_index) = 0;
  /// Does one thing to an interface; when it returns, the kernel has done it or said no.
  virtual Result<void> change(std::uint32_t interface_index, const Act& act) = 0;
};

/// What operators' commands change, as the keeper of faults sees it. Processes stand behind it, or
/// a test.
class CommandPort {
 public:
  virtual ~CommandPort() = default;

  /// What the command's own check says, which is all that can be known of a switch.
  virtual Result<Finding> check(const ExternalCall& call) = 0;
  /// Applies or undoes; when it returns, no process of the command is left.
  virtual Result<void> run(const RunCommand& act) = 0;
};

/// The kernel of a keeper that only runs commands: it has no interface.
class NoKernel final : public KernelPort {
 public:
  Result<LinkTable> links() override { return LinkTable{}; }
  Result<InterfaceState> read(std::uint32_t) override {
    return fail(ErrorCode::not_found, ErrorSource::host, "no interface is kept here");
  }
  Result<void> change(std::uint32_t, const Act&) override {
    return fail(ErrorCode::unsupported, ErrorSource::host, "no interface is kept here");
  }
};

/// Where records outlive the helper. A file stands behind it, or a test.
class JournalPort {
 public:
  virtual ~JournalPort() = default;

  /// When it returns, the record is on disk; on failure the fault must not be done.
  virtual Result<void> append(const JournalRecord& record) = 0;
  /// Replaces the whole journal by these, at once or not at all.
  virtual Result<void> restart(std::span<const JournalRecord> records) = 0;
  /// How much stands in it.
  virtual std::size_t size_bytes() const = 0;
};

/// The points at which tests stop or kill the helper. In this order; `in_…` is half-way through the
/// writing of a record.
enum class Step : std::uint8_t {
  before_write,
  in_write,
  after_write,
  before_apply,
  after_apply,
  before_record,
  in_record,
  after_record,
  before_undo,
  after_undo,
  before_close,
  in_close,
  after_close,
};
inline constexpr std::array kSteps = {
    Step::before_write,  Step::in_write,  Step::after_write,  Step::before_apply, Step::after_apply,
    Step::before_record, Step::in_record, Step::after_record, Step::before_undo,  Step::after_undo,
    Step::before_close,  Step::in_close,  Step::after_close};
std::string_view to_string(Step step);

/// The half-way point of writing this record.
Step half_way(const JournalRecord& record);

}  // namespace rehearsal::fault
