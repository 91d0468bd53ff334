#include "core/collective/pat_blocks.hpp"

#include <array>

namespace rehearsal::collective {

namespace {

std::uint64_t part_bytes(std::uint64_t block, std::uint32_t channels, std::uint32_t channel) {
  return channel_part(block, channels, channel).size();
}

}  // namespace

PatBlocks::PatBlocks(Kind kind, std::uint64_t bytes, std::uint32_t position, const Shape& shape,
                     const Choice& choice) noexcept
    : kind_(kind),
      bytes_(bytes),
      chunk_(align_up(choice.chunk.count())),
      position_(position),
      size_(shape.size()),
      channels_(choice.channels),
      credits_(choice.credits) {}

PatBlocks::Cursor::Cursor(const PatBlocks& algorithm, std::uint32_t channel) noexcept
    : kind_(algorithm.kind_),
      channel_(static_cast<std::uint16_t>(channel)),
      size_(algorithm.size_),
      position_(algorithm.position_),
      channels_(algorithm.channels_),
      bytes_(algorithm.bytes_),
      chunk_(algorithm.chunk_),
      part_bytes_max_(std::max(part_bytes(bytes_ / size_, channels_, channel),
                               part_bytes(divide_up(bytes_, size_), channels_, channel))),
      end_(part_bytes_max_) {
  aggregation_ = PatAggregation::of(chunk_, part_bytes_max_, algorithm.credits_, size_);
  begin_chunk();
}

void PatBlocks::Cursor::begin_chunk() noexcept {
  if (chunk_offset_ >= end_) return;
  if (kind_ == Kind::all_gather)
    order_ = PatGatherOrder{size_, aggregation_};
  else
    order_ = PatScatterOrder{size_, aggregation_};
}

bool PatBlocks::Cursor::next_move() noexcept {
  while (chunk_offset_ < end_) {
    if (std::visit([&](auto& order) { return order.next(move_); }, order_)) return true;
    chunk_offset_ += chunk_;
    begin_chunk();
  }
  return false;
}

Range PatBlocks::Cursor::piece(const Parts& parts, std::uint32_t index) const noexcept {
  const std::uint64_t block = (parts.block + std::uint64_t{index} * parts.stride) % size_;
  const Range whole = block_of(bytes_, size_, block);
  const Range part = channel_part(whole.size(), channels_, channel_);
  const std::uint64_t begin = std::min(part.begin + parts.chunk_offset, part.end);
  return {whole.begin + begin, whole.begin + std::min(begin + chunk_, part.end)};
}

std::uint32_t PatBlocks::Cursor::peer(std::uint8_t dimension, bool sent) const noexcept {
  const bool above = sent == (kind_ == Kind::reduce_scatter);
  const std::uint32_t distance = 1U << dimension;
  return (position_ + (above ? distance : size_ - distance)) % size_;
}

/// Distances in a group are those of the far end: who sends in a reduce_scatter, who receives in an
/// all_gather.
PatBlocks::Cursor::Message PatBlocks::Cursor::message(const PatGroup& group, std::uint8_t dimension,
                                                      bool sent) const noexcept {
  const bool far = sent == (kind_ == Kind::reduce_scatter);
  const std::uint32_t first = far ? group.first : group.first - (1U << dimension);
  Message message;
  message.parts = {.block = (position_ + first) % size_,
                   .stride = group.stride,
                   .count = group.count,
                   .chunk_offset = chunk_offset_};
  for (std::uint32_t i = 0; i < group.count; ++i) message.bytes += piece(message.parts, i).size();
  const std::uint64_t room = std::min(chunk_, part_bytes_max_ - chunk_offset_);
  message.wire = message.bytes + (group.slots - group.count) * room;
  return message;
}

void PatBlocks::Cursor::fill(Step& step, Parts& parts, const Message& message) const noexcept {
  step.channel = channel_;
  step.offset = piece(message.parts, 0).begin;
  step.bytes = message.bytes;
  step.wire = message.wire;
  parts = message.parts;
}

bool PatBlocks::Cursor::next(Step& step, Parts& parts) noexcept {
  const bool reduces = kind_ == Kind::reduce_scatter;
  for (;;) {
    if (!move_.receives && !move_.sends && !next_move()) return false;
    step = Step{};
    if (move_.receives) {
      const Message message = this->message(move_.received, move_.from, false);
      move_.receives = false;
      step.from = peer(move_.from, false);
      step.action = reduces ? Action::recv_reduce : Action::recv;
      // One piece in a message: what comes in is what goes out.
      if (move_.sends && aggregation_.per_message == 1) {
        move_.sends = false;
        step.to = peer(move_.to, true);
        step.action = reduces ? Action::recv_reduce_send : Action::recv_copy_send;
      }
      fill(step, parts, message);
    } else {
      const Message message = this->message(move_.sent, move_.to, true);
      move_.sends = false;
      step.to = peer(move_.to, true);
      step.action = Action::send;
      fill(step, parts, message);
    }
    if (step.bytes > 0) return true;
  }
}

void PatBlocks::append(bool sent, std::vector<Traffic>& out) const {
  for (std::uint32_t channel = 0; channel < lane_count(); ++channel) {
    std::array<Traffic, kPatDimensionsMax> by_dimension{};
    const auto walk = [&](std::uint64_t from, std::uint64_t to, std::uint64_t times) {
      Cursor cursor{*this, channel};
      cursor.chunk_offset_ = from;
      cursor.end_ = std::min(to, cursor.end_);
      while (cursor.next_move()) {
        if (!(sent ? cursor.move_.sends : cursor.move_.receives)) continue;
        const std::uint8_t dimension = sent ? cursor.move_.to : cursor.move_.from;
        const auto message =
            cursor.message(sent ? cursor.move_.sent : cursor.move_.received, dimension, sent);
        if (message.bytes == 0) continue;
        Traffic& traffic = by_dimension[dimension];
        traffic.peer = cursor.peer(dimension, sent);
        traffic.channel = static_cast<std::uint16_t>(channel);
        traffic.amount += times * Amount{message.bytes, message.wire, 1};
        traffic.message_bytes_max = std::max(traffic.message_bytes_max, message.wire);
      }
    };
    const std::uint64_t full = std::min(part_bytes(bytes_ / size_, channels_, channel),
                                        part_bytes(divide_up(bytes_, size_), channels_, channel)) /
                               chunk_;
    if (full > 0) walk(0, chunk_, full);
    walk(full * chunk_, bytes_, 1);
    for (const Traffic& traffic : by_dimension)
      if (traffic.amount.messages > 0) out.push_back(traffic);
  }
}

}  // namespace rehearsal::collective
