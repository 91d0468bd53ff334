#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace rehearsal::protocol {

/// A piece of bulk (a plan, a profile, results, a file), as it stands in its message.
struct Part {
  std::uint64_t size = 0;  ///< of the whole
  std::uint64_t offset = 0;
  std::string_view bytes;  ///< at most kPartBytesMax
};

/// The parts of `whole`, in order; one empty part for an empty whole, so that it arrives too. They
/// look into `whole`.
std::vector<Part> parts_of(std::string_view whole);

/// Puts bulk together again. The first part announces the size, which is held against the cap
/// before anything is kept; the parts come in order. A part that came before is passed over, since
/// a repeated message must do no harm.
class PartAssembler {
 public:
  /// `what` names the bulk in errors ("profile 'dlrm'").
  PartAssembler(std::uint64_t size_max, std::string what)
      : size_max_(size_max), what_(std::move(what)) {}

  /// True once the whole is here. An error (too_large, protocol) leaves the assembler as it was.
  Result<bool> add(const Part& part);

  bool complete() const { return announced_ && whole_.size() == size_; }
  std::uint64_t received() const { return whole_.size(); }
  /// Moves the whole out; only when complete(). The assembler is then as new.
  std::string take();

 private:
  std::uint64_t size_max_;
  std::string what_;
  bool announced_ = false;
  std::uint64_t size_ = 0;
  std::string whole_;
};

}  // namespace rehearsal::protocol
