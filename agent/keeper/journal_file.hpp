#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/fault/ports.hpp"

namespace rehearsal::agent {

/// The journal of faults in a folder of its own, which one helper at a time has: `journal`, and
/// `lock`. Every record is synchronised to disk before append() returns.
class JournalFile final : public fault::JournalPort {
 public:
  /// Makes the folder where missing and locks it; refused when another helper has it.
  static Result<JournalFile> open(const std::filesystem::path& folder);
  JournalFile(JournalFile&& other) noexcept;
  JournalFile& operator=(JournalFile&&) = delete;
  ~JournalFile() override;

  /// What stands in it now; a file over kJournalBytesMax is damaged.
  Result<fault::Journal> read() const;

  /// Only after restart(): what an earlier helper left may end in a torn record.
  Result<void> append(const fault::JournalRecord& record) override;
  Result<void> restart(std::span<const fault::JournalRecord> records) override;
  std::size_t size_bytes() const override { return size_; }

  /// Tests: records are written in two halves, with this between them.
  void call_half_way(std::function<void(fault::Step)> on_step) { on_step_ = std::move(on_step); }

 private:
  JournalFile(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}
  Result<void> write(std::string_view bytes);
  Failure give_up(std::string_view what);

  std::filesystem::path path_;
  int lock_ = -1;
  int file_ = -1;  ///< open for appending; −1: not before restart()
  std::size_t size_ = 0;
  std::function<void(fault::Step)> on_step_;
};

}  // namespace rehearsal::agent
