#include "core/collective/direct_all_reduce.hpp"

namespace rehearsal::collective {

DirectAllReduce::DirectAllReduce(std::uint64_t bytes, std::uint32_t position, const Shape& shape,
                                 const Choice& choice) noexcept
    : bytes_(bytes),
      chunk_(align_up(choice.chunk.count())),
      protocol_(choice.protocol),
      channels_(choice.channels),
      size_(shape.size()),
      position_(position) {}

DirectAllReduce::Cursor::Cursor(const DirectAllReduce& algorithm, std::uint32_t channel) noexcept
    : bytes_(algorithm.bytes_),
      chunk_(algorithm.chunk_),
      protocol_(algorithm.protocol_),
      channels_(algorithm.channels_),
      size_(algorithm.size_),
      position_(algorithm.position_),
      channel_(static_cast<std::uint16_t>(channel)) {}

Range DirectAllReduce::Cursor::chunk_of(std::uint32_t owner) const noexcept {
  return chunk_at(block_part(bytes_, size_, owner, channels_, channel_), chunk_offset_, chunk_);
}

bool DirectAllReduce::Cursor::next(Step& step) noexcept {
  // Parts of a channel differ by what blocks differ: the longest block tells the number of rounds.
  const std::uint64_t rounds_end =
      channel_part(divide_up(bytes_, size_), channels_, channel_).size();
  const std::uint64_t shorter_end = channel_part(bytes_ / size_, channels_, channel_).size();
  const std::uint64_t end = std::max(rounds_end, shorter_end);
  while (true) {
    for (; chunk_offset_ < end; chunk_offset_ += chunk_, turn_ = 0) {
      while (++turn_ < 2 * size_ - 1) {
        const bool sent = turn_ < size_;
        const std::uint32_t distance = sent ? turn_ : turn_ - size_ + 1;
        const std::uint32_t peer = (position_ + (sent ? distance : size_ - distance)) % size_;
        const Range chunk = chunk_of(sent == gathers_ ? position_ : peer);
        if (chunk.size() == 0) continue;
        step = Step{.action = sent       ? Action::send
                              : gathers_ ? Action::recv
                                         : Action::recv_reduce,
                    .from = peer,
                    .to = peer,
                    .channel = channel_,
                    .offset = chunk.begin,
                    .bytes = chunk.size(),
                    .wire = wire_bytes(protocol_, chunk.size())};
        return true;
      }
    }
    if (gathers_) return false;
    gathers_ = true;
    chunk_offset_ = 0;
    turn_ = 0;
  }
}

void DirectAllReduce::append(bool sent, std::vector<Traffic>& out) const {
  const Slicing slicing{chunk_, 1, protocol_};
  for (std::uint32_t channel = 0; channel < lane_count(); ++channel) {
    const std::uint64_t own = block_part(bytes_, size_, position_, channels_, channel).size();
    for (std::uint32_t distance = 1; distance < size_; ++distance) {
      const std::uint32_t peer = (position_ + (sent ? distance : size_ - distance)) % size_;
      // One way goes the peer's block, to be added up, and the sender's own, added up.
      const std::uint64_t theirs = block_part(bytes_, size_, peer, channels_, channel).size();
      const Amount amount = slicing.in_chunks(theirs) + slicing.in_chunks(own);
      if (amount.messages == 0) continue;
      out.push_back(
          {.peer = peer,
           .channel = static_cast<std::uint16_t>(channel),
           .amount = amount,
           .message_bytes_max = wire_bytes(protocol_, std::min(std::max(theirs, own), chunk_))});
    }
  }
}

}  // namespace rehearsal::collective
