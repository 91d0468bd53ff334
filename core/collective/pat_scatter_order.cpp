#include <algorithm>
#include <bit>

#include "core/base/check.hpp"
#include "core/collective/pat_order.hpp"

namespace rehearsal::collective {

namespace {

/// `index` of `count` (a power of two) in the order in which reduce_scatter walks: bits mirrored
/// and inverted, so that neighbours stand far apart and the nearest to the owner come last.
std::uint32_t mirrored(std::uint32_t index, std::uint32_t count) {
  std::uint32_t result = 0;
  for (std::uint32_t low = 1, high = count / 2; low < count; low <<= 1, high >>= 1)
    if ((index & low) == 0) result += high;
  return result;
}

std::uint32_t dimension_of(std::uint32_t distance) {
  return static_cast<std::uint32_t>(std::countr_zero(distance));
}

}  // namespace

PatGroup PatGroup::of(std::uint32_t first, std::uint32_t stride, std::uint32_t slots,
                      std::uint32_t ranks) noexcept {
  const std::uint32_t exist = first < ranks ? (ranks - 1 - first) / stride + 1 : 0;
  return {.first = first, .stride = stride, .count = std::min(slots, exist), .slots = slots};
}

PatAggregation PatAggregation::of(std::uint64_t chunk, std::uint64_t piece, std::uint32_t credits,
                                  std::uint32_t ranks) noexcept {
  PatAggregation result;
  piece = std::max<std::uint64_t>(piece, 1);
  while (chunk / (piece * result.factor) >= 2 && result.factor < ranks / 2) result.factor *= 2;
  result.per_message = result.factor;
  for (; credits > 1 && result.factor < ranks / 2; credits /= 2) result.factor *= 2;
  return result;
}

PatScatterOrder::PatScatterOrder(std::uint32_t ranks, PatAggregation aggregation) noexcept
    : ranks_(ranks),
      factor_(aggregation.factor),
      per_message_(aggregation.per_message),
      delta_(std::bit_ceil(ranks) / aggregation.factor),
      below_(delta_ - 1) {
  CHECK(ranks >= 2, "PAT wants peers");
  CHECK(ranks <= 1U << kPatDimensionsMax, "more ranks than PAT's dimensions");
  start(Phase::leaves);
}

bool PatScatterOrder::next(PatMove& move) noexcept {
  while (phase_ != Phase::done) {
    move = {};
    act(move);
    advance();
    if (move.receives || move.sends) return true;
  }
  return false;
}

void PatScatterOrder::start(Phase phase) noexcept {
  phase_ = phase;
  index_ = 0;
  const bool among_tops = phase == Phase::tops_pass || phase == Phase::tops_join;
  count_ = phase == Phase::own ? 1 : among_tops ? factor_ / (2 * scale_) : factor_;
}

PatGroup PatScatterOrder::group(std::uint32_t count, std::uint32_t index, std::uint32_t stride,
                                std::uint32_t offset) const noexcept {
  const std::uint32_t slots = std::min(per_message_, count);
  const std::uint32_t last = index / slots * slots + slots - 1;  // the nearest to the owner
  return PatGroup::of(mirrored(last, count) * stride + offset, count / slots * stride, slots,
                      ranks_);
}

void PatScatterOrder::receive(PatMove& move, std::uint32_t dimension, const PatGroup& group,
                              bool closes) noexcept {
  const std::uint32_t bit = 1U << dimension;
  if ((open_ & bit) == 0) {
    move.receives = true;
    move.from = static_cast<std::uint8_t>(dimension);
    move.received = group;
  }
  open_ = closes ? open_ & ~bit : open_ | bit;
}

void PatScatterOrder::act(PatMove& move) noexcept {
  const auto send = [&](std::uint32_t dimension, const PatGroup& group) {
    move.sends = true;
    move.to = static_cast<std::uint8_t>(dimension);
    move.sent = group;
  };
  const bool closes = (index_ + 1) % per_message_ == 0 || index_ + 1 == count_;
  const std::uint32_t place = mirrored(index_, count_);
  const std::uint32_t top = scale_ * delta_;
  switch (phase_) {
    case Phase::leaves: {
      const std::uint32_t distance = place * delta_ + below_;
      if (distance < ranks_ && closes) send(0, group(factor_, index_, delta_, below_));
      break;
    }
    case Phase::relays: {
      const std::uint32_t distance = place * delta_ + below_;
      const std::uint32_t dimension = dimension_of(below_);
      const std::uint32_t nearer = distance - (1U << dimension);
      if (distance < ranks_)
        receive(move, dimension, group(factor_, index_, delta_, below_), closes);
      // The nearest child comes last, and what was joined is passed on.
      if (dimension == 0 && nearer < ranks_ && closes)
        send(dimension_of(below_ - 1), group(factor_, index_, delta_, below_ - 1));
      break;
    }
    case Phase::tops_pass: {
      const std::uint32_t distance = (2 * place + 1) * top;
      const std::uint32_t leaf = index_ + factor_ - factor_ / scale_;
      if (distance + 1 < ranks_)
        receive(move, 0, group(factor_, leaf, delta_, 1), (leaf + 1) % per_message_ == 0);
      if (distance < ranks_ && closes) send(dimension_of(top), group(count_, index_, 2 * top, top));
      break;
    }
    case Phase::tops_join:
      if ((2 * place + 1) * top < ranks_)
        receive(move, dimension_of(top), group(count_, index_, 2 * top, top), closes);
      break;
    case Phase::own:
      receive(move, 0, group(factor_, factor_ - 1, delta_, 1), true);
      break;
    case Phase::done:
      break;
  }
}

void PatScatterOrder::advance() noexcept {
  if (++index_ < count_) return;
  switch (phase_) {
    case Phase::leaves:
      start(below_ > 1 ? Phase::relays : factor_ > 1 ? Phase::tops_pass : Phase::own);
      break;
    case Phase::relays:
      --below_;
      start(below_ % 2 == 1 ? Phase::leaves : Phase::relays);
      break;
    case Phase::tops_pass:
      start(Phase::tops_join);
      break;
    case Phase::tops_join:
      scale_ *= 2;
      start(scale_ < factor_ ? Phase::tops_pass : Phase::own);
      break;
    case Phase::own:
    case Phase::done:
      phase_ = Phase::done;
      break;
  }
}

}  // namespace rehearsal::collective
