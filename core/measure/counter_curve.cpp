#include "core/measure/counter_curve.hpp"

#include <algorithm>

namespace rehearsal::measure {

CounterCurve::CounterCurve(Instant origin, std::size_t capacity, Duration bin)
    : bins_(origin, capacity, bin) {
  gaps_.reserve(kGapsMax);
}

void CounterCurve::read(Instant at, std::uint64_t count) noexcept {
  const std::optional<Reading> before = last_;
  last_ = Reading{.at = at, .count = count};
  if (!before || count <= before->count) return;
  const std::uint64_t rise = count - before->count;
  if (last_change_ && gaps_.size() < kGapsMax) gaps_.push_back(at - *last_change_);
  last_change_ = at;
  // Instants in the middle of as many equal parts as the time between has bins.
  const Duration gap = at - before->at;
  const auto parts = static_cast<std::uint64_t>(
      std::clamp<std::int64_t>((gap + bins_.bin() / 2) / bins_.bin(), 1, 1000));
  std::uint64_t done = 0;
  for (std::uint64_t part = 0; part < parts; ++part) {
    const std::uint64_t until = rise / parts * (part + 1) + rise % parts * (part + 1) / parts;
    const auto middle = static_cast<std::int64_t>(2 * part + 1);
    bins_.add(before->at + gap * middle / static_cast<std::int64_t>(2 * parts), until - done);
    done = until;
  }
}

std::optional<Duration> CounterCurve::resolution() const {
  if (gaps_.size() < kGapsMin) return std::nullopt;
  std::vector<Duration> sorted = gaps_;
  const auto tenth = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 10);
  std::ranges::nth_element(sorted, tenth);
  return *tenth;
}

ByteSeries CounterCurve::series() const {
  const Duration bin = bins_.bin();
  const auto factor = (resolution().value_or(bin) + bin / 2) / bin;
  return widened(bins_.series(), static_cast<std::size_t>(std::max<std::int64_t>(factor, 1)));
}

}  // namespace rehearsal::measure
