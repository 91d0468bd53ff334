#include <bit>

#include "core/collective/pat_blocks.hpp"

namespace rehearsal::collective {

/// Of the blocks that go by each dimension, those that are a byte longer.
PatBlocks::Counts PatBlocks::long_blocks(bool sent) const noexcept {
  Counts counts{};
  const std::uint64_t rest = bytes_ % size_;
  if (rest == 0) return counts;
  const bool far = sent == (kind_ == Kind::reduce_scatter);
  for (std::uint32_t distance = 1; distance < size_; ++distance) {
    const auto dimension = static_cast<std::uint32_t>(std::countr_zero(distance));
    const std::uint32_t ahead = far ? distance : distance - (1U << dimension);
    const std::uint64_t block = (position_ + std::uint64_t{ahead}) % size_;
    // Block i is longer where floor((i + 1) · S / n) steps once more (block_of).
    if (block * rest % size_ + rest >= size_) ++counts[dimension];
  }
  return counts;
}

void PatBlocks::walk(std::uint32_t channel, bool sent, std::uint64_t chunk_offset,
                     ByDimension& totals) const noexcept {
  Cursor cursor{*this, channel};
  cursor.chunk_offset_ = chunk_offset;
  cursor.end_ = std::min(chunk_offset + chunk_, cursor.end_);
  while (cursor.next_move()) {
    if (!(sent ? cursor.move_.sends : cursor.move_.receives)) continue;
    const std::uint8_t dimension = sent ? cursor.move_.to : cursor.move_.from;
    const auto message =
        cursor.message(sent ? cursor.move_.sent : cursor.move_.received, dimension, sent);
    if (message.bytes == 0) continue;
    Traffic& traffic = totals[dimension];
    traffic.amount += {message.bytes, message.wire, 1};
    traffic.message_bytes_max = std::max(traffic.message_bytes_max, message.wire);
  }
}

PatBlocks::ByDimension PatBlocks::totals(std::uint32_t channel, bool sent,
                                         const Counts& long_blocks) const noexcept {
  ByDimension totals{};
  const std::uint64_t small = channel_part(bytes_ / size_, channels_, channel).size();
  const std::uint64_t large =
      bytes_ % size_ == 0 ? small : channel_part(bytes_ / size_ + 1, channels_, channel).size();
  const auto aggregation = PatAggregation::of(chunk_, std::max(small, large), credits_, size_);
  const auto add = [&](std::uint64_t times, std::uint64_t small_piece, std::uint64_t large_piece) {
    const std::uint64_t room = std::max(small_piece, large_piece);
    for (std::uint32_t k = 0; (1U << k) < size_; ++k) {
      const PatCount count = kind_ == Kind::all_gather
                                 ? PatGatherOrder::count(size_, aggregation, k)
                                 : PatScatterOrder::count(size_, aggregation, k);
      const std::uint64_t data =
          long_blocks[k] * large_piece + (count.pieces - long_blocks[k]) * small_piece;
      totals[k].amount +=
          times * Amount{data, data + (count.slots - count.pieces) * room, count.messages};
      totals[k].message_bytes_max = std::max(totals[k].message_bytes_max, count.slots_max * room);
    }
  };
  const std::uint64_t full = std::min(small, large) / chunk_;
  if (full > 0) add(full, chunk_, chunk_);
  for (std::uint64_t begin = full * chunk_; begin < std::max(small, large); begin += chunk_) {
    const auto piece = [&](std::uint64_t part) {
      return part > begin ? std::min(part - begin, chunk_) : 0;
    };
    if (piece(small) > 0 && piece(large) > 0)
      add(1, piece(small), piece(large));
    else
      walk(channel, sent, begin, totals);
  }
  return totals;
}

void PatBlocks::append(bool sent, std::vector<Traffic>& out) const {
  if (size_ < 2) return;
  const Counts longer = long_blocks(sent);
  for (std::uint32_t channel = 0; channel < channels_; ++channel) {
    ByDimension all = totals(channel, sent, longer);
    for (std::uint32_t k = 0; (1U << k) < size_; ++k) {
      if (all[k].amount.messages == 0) continue;
      all[k].peer = pat_peer(position_, size_, k, sent == (kind_ == Kind::reduce_scatter));
      all[k].channel = static_cast<std::uint16_t>(channel);
      out.push_back(all[k]);
    }
  }
}

}  // namespace rehearsal::collective
