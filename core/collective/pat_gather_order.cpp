#include <algorithm>
#include <bit>

#include "core/base/check.hpp"
#include "core/collective/pat_order.hpp"

namespace rehearsal::collective {

namespace {

std::uint32_t dimension_of(std::uint32_t distance) {
  return static_cast<std::uint32_t>(std::countr_zero(distance));
}

}  // namespace

PatGatherOrder::PatGatherOrder(std::uint32_t ranks, PatAggregation aggregation) noexcept
    : ranks_(ranks),
      factor_(aggregation.factor),
      per_message_(aggregation.per_message),
      delta_(std::bit_ceil(ranks) / aggregation.factor),
      scale_(aggregation.factor / 2),
      bits_(dimension_of(delta_)) {
  CHECK(ranks >= 2, "PAT wants peers");
  CHECK(ranks <= 1U << kPatDimensionsMax, "more ranks than PAT's dimensions");
  for (std::uint32_t bit = 0; bit < bits_; ++bit) {
    left_[bit] = static_cast<std::int32_t>(bits_ - bit);
    zero_turns_[bit] = 1;
  }
  below_ = next_below();
  start(scale_ > 0 ? Phase::tops : Phase::relays);
}

bool PatGatherOrder::next(PatMove& move) noexcept {
  while (phase_ != Phase::done) {
    move = {};
    act(move);
    advance();
    if (move.receives || move.sends) return true;
  }
  return false;
}

std::uint32_t PatGatherOrder::next_below() noexcept {
  for (std::uint32_t bit = 0; bit < bits_; ++bit) {
    const std::uint32_t power = 1U << bit;
    if (--left_[bit] > 0) continue;
    value_ ^= power;
    left_[bit] = static_cast<std::int32_t>(power);
    if ((value_ & power) != 0) continue;
    left_[bit] += static_cast<std::int32_t>(dimension_of(zero_turns_[bit])) - 1;
    if (left_[bit] == 0) {
      value_ ^= power;
      left_[bit] = static_cast<std::int32_t>(power);
    }
    ++zero_turns_[bit];
  }
  return value_;
}

void PatGatherOrder::start(Phase phase) noexcept {
  phase_ = phase;
  index_ = 0;
  count_ = phase == Phase::tops ? factor_ / (2 * scale_) : factor_;
}

PatGroup PatGatherOrder::group(std::uint32_t index, std::uint32_t stride,
                               std::uint32_t offset) const noexcept {
  PatGroup group = PatGroup::of(index / per_message_ * per_message_ * stride + offset, stride,
                                per_message_, ranks_);
  group.slots = group.count;
  return group;
}

/// Whether the message that holds number `index` ends there: it is full, or there are no more.
bool PatGatherOrder::closes(std::uint32_t index, std::uint32_t next_distance) const noexcept {
  return (index + 1) % per_message_ == 0 || next_distance >= ranks_;
}

/// `ahead`: how many messages after the first one that is not used up.
void PatGatherOrder::receive(PatMove& move, std::uint32_t dimension, std::uint32_t ahead,
                             const PatGroup& group, bool closes) noexcept {
  if (ahead >= open_[dimension]) {
    move.receives = true;
    move.from = static_cast<std::uint8_t>(dimension);
    move.received = group;
    ++open_[dimension];
  }
  if (closes) --open_[dimension];
}

/// Takes the block at `distance`, a top, from where its own tree hands it down.
void PatGatherOrder::pass_from_top(PatMove& move, std::uint32_t distance, bool last_use) noexcept {
  const std::uint32_t dimension = dimension_of(distance);
  const std::uint32_t power = 1U << dimension;
  const std::uint32_t index = distance >> (dimension + 1);
  receive(move, dimension, last_use ? 0 : index / per_message_, group(index, 2 * power, power),
          last_use && closes(index, (2 * (index + 1) + 1) * power));
}

void PatGatherOrder::act(PatMove& move) noexcept {
  const auto send = [&](std::uint32_t dimension, const PatGroup& group) {
    move.sends = true;
    move.to = static_cast<std::uint8_t>(dimension);
    move.sent = group;
  };
  const std::uint32_t distance = index_ * delta_ + below_;
  switch (phase_) {
    case Phase::tops: {
      const std::uint32_t top = scale_ * delta_;
      if ((2 * index_ + 1) * top >= ranks_) break;
      if (index_ > 0) pass_from_top(move, 2 * index_ * top, false);
      if (closes(index_, (2 * (index_ + 1) + 1) * top))
        send(dimension_of(top), group(index_, 2 * top, top));
      break;
    }
    case Phase::relays: {
      const std::uint32_t dimension = dimension_of(below_);
      const std::uint32_t rest = below_ - (1U << dimension);
      const std::uint32_t nearer = distance - (1U << dimension);
      const bool last_use = dimension == 0;
      if (distance >= ranks_ && (nearer >= ranks_ || !last_use)) break;
      if (rest > 0)
        receive(move, dimension_of(rest), last_use ? 0 : index_ / per_message_,
                group(index_, delta_, rest), last_use && closes(index_, distance + delta_ - 1));
      else if (nearer > 0)
        pass_from_top(move, nearer, last_use);
      if (distance < ranks_ && closes(index_, distance + delta_))
        send(dimension, group(index_, delta_, below_));
      break;
    }
    case Phase::leaves:
      if (distance < ranks_)
        receive(move, 0, 0, group(index_, delta_, below_), closes(index_, distance + delta_));
      break;
    case Phase::done:
      break;
  }
}

void PatGatherOrder::advance() noexcept {
  if (++index_ < count_) return;
  switch (phase_) {
    case Phase::tops:
      scale_ /= 2;
      start(scale_ > 0 ? Phase::tops : Phase::relays);
      break;
    case Phase::relays:
      if (below_ % 2 == 1) {
        start(Phase::leaves);
      } else {
        below_ = next_below();
        start(Phase::relays);
      }
      break;
    case Phase::leaves:
      below_ = next_below();
      start(below_ == delta_ / 2 ? Phase::done : Phase::relays);
      break;
    case Phase::done:
      break;
  }
}

}  // namespace rehearsal::collective
