#include "core/collective/direct_blocks.hpp"

namespace rehearsal::collective {

namespace {

/// Whose block goes from one rank to another: that of who gathers it, or that of who wants the sum.
std::uint32_t block_between(DirectBlocks::Kind kind, std::uint32_t from, std::uint32_t to) {
  return kind == DirectBlocks::Kind::all_gather ? from : to;
}

}  // namespace

DirectBlocks::DirectBlocks(Kind kind, std::uint64_t bytes, std::uint32_t position,
                           const Shape& shape, const Choice& choice) noexcept
    : kind_(kind),
      protocol_(choice.protocol),
      bytes_(bytes),
      chunk_(align_up(choice.chunk.count())),
      position_(position),
      size_(shape.size()),
      channels_(choice.channels) {}

DirectBlocks::Cursor::Cursor(const DirectBlocks& algorithm, std::uint32_t lane) noexcept
    : kind_(algorithm.kind_),
      sends_(lane < algorithm.channels_),
      protocol_(algorithm.protocol_),
      channel_(static_cast<std::uint16_t>(lane % algorithm.channels_)),
      size_(algorithm.size_),
      position_(algorithm.position_),
      channels_(algorithm.channels_),
      bytes_(algorithm.bytes_),
      chunk_(algorithm.chunk_) {}

Range DirectBlocks::Cursor::chunk_of(std::uint32_t block) const noexcept {
  return chunk_at(block_part(bytes_, size_, block, channels_, channel_), chunk_offset_, chunk_);
}

bool DirectBlocks::Cursor::next(Step& step) noexcept {
  // Blocks differ by a byte, and parts of them by at most an alignment.
  const std::uint64_t end =
      channel_part(divide_up(bytes_, size_), channels_, channel_).size() + kAlignment;
  for (; chunk_offset_ < end; chunk_offset_ += chunk_, distance_ = 0) {
    while (++distance_ < size_) {
      const std::uint32_t peer = (position_ + (sends_ ? distance_ : size_ - distance_)) % size_;
      const Range chunk = chunk_of(sends_ ? block_between(kind_, position_, peer)
                                          : block_between(kind_, peer, position_));
      if (chunk.size() == 0) continue;
      step = Step{.action = sends_                      ? Action::send
                            : kind_ == Kind::all_gather ? Action::recv
                                                        : Action::recv_reduce,
                  .channel = channel_,
                  .offset = chunk.begin,
                  .bytes = chunk.size(),
                  .wire = wire_bytes(protocol_, chunk.size())};
      (sends_ ? step.to : step.from) = peer;
      return true;
    }
  }
  return false;
}

void DirectBlocks::append(bool sent, std::vector<Traffic>& out) const {
  if (size_ < 2) return;
  const Slicing slicing{chunk_, 1, protocol_};
  for (std::uint32_t channel = 0; channel < channels_; ++channel)
    for (std::uint32_t peer = 0; peer < size_; ++peer) {
      if (peer == position_) continue;
      const std::uint32_t block =
          sent ? block_between(kind_, position_, peer) : block_between(kind_, peer, position_);
      const std::uint64_t part =
          channel_part(block_of(bytes_, size_, block).size(), channels_, channel).size();
      if (part == 0) continue;
      out.push_back({.peer = peer,
                     .channel = static_cast<std::uint16_t>(channel),
                     .amount = slicing.in_chunks(part),
                     .message_bytes_max = wire_bytes(protocol_, std::min(part, chunk_))});
    }
}

}  // namespace rehearsal::collective
