#include "core/fault/fault.hpp"

namespace rehearsal::fault {
namespace {

std::string level_text(Kind kind, const Level& level) {
  switch (kind) {
    case Kind::rate:
      return format_fraction(level.rate);
    case Kind::delay:
      return format_duration_exact(level.delay);
    case Kind::reorder:
      return format_fraction(level.share) + ", the others later by " +
             format_duration_exact(level.delay);
    case Kind::loss:
    case Kind::duplicate:
    case Kind::corrupt:
      return format_fraction(level.share);
    case Kind::straggler:
      return format_fraction(level.compute);
    case Kind::mtu:
      return std::to_string(level.mtu) + "B";
    case Kind::incast:
    case Kind::background:
      if (level.traffic.bits_per_second() != 0) return format_bit_rate_exact(level.traffic);
      if (level.rate.millionths != 0) return format_fraction(level.rate);
      return "as fast as it goes";
    case Kind::flow_control:
      return level.pause_frames ? "on" : "off";
    case Kind::blackhole:
    case Kind::pause:
    case Kind::crash:
    case Kind::link_down:
    case Kind::external:
      return {};
  }
  return {};
}

std::string count_of(std::uint32_t count, std::string_view one) {
  return std::to_string(count) + " " + std::string(one) + (count == 1 ? "" : "s");
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::rate:
      return "rate";
    case Kind::delay:
      return "delay";
    case Kind::loss:
      return "loss";
    case Kind::blackhole:
      return "blackhole";
    case Kind::straggler:
      return "straggler";
    case Kind::pause:
      return "pause";
    case Kind::crash:
      return "crash";
    case Kind::duplicate:
      return "duplicate";
    case Kind::reorder:
      return "reorder";
    case Kind::corrupt:
      return "corrupt";
    case Kind::link_down:
      return "link_down";
    case Kind::mtu:
      return "mtu";
    case Kind::incast:
      return "incast";
    case Kind::background:
      return "background";
    case Kind::flow_control:
      return "flow_control";
    case Kind::external:
      return "external";
  }
  return "unknown";
}

std::string_view to_string(Side side) {
  switch (side) {
    case Side::sent:
      return "sent";
    case Side::received:
      return "received";
    case Side::both:
      return "both";
  }
  return "unknown";
}

std::string_view to_string(Mechanism mechanism) {
  switch (mechanism) {
    case Mechanism::sender:
      return "sender";
    case Mechanism::kernel:
      return "kernel";
    case Mechanism::device:
      return "device";
    case Mechanism::external:
      return "external";
  }
  return "unknown";
}

std::string describe(const What& what) {
  std::string text(to_string(what.kind));
  for (std::size_t i = 0; i < what.levels.size(); ++i) {
    const std::string level = level_text(what.kind, what.levels[i]);
    if (!level.empty()) text += (i == 0 ? " " : ", ") + level;
  }
  if (what.kind == Kind::external) text += " " + describe(what.call);
  if (what.of.bits_per_second() != 0) text += " of " + format_bit_rate_exact(what.of);
  if (what.jitter > Duration::zero()) text += ", jitter " + format_duration_exact(what.jitter);
  if (what.retransmission > Duration::zero()) {
    text += ", sent again after " + format_duration_exact(what.retransmission);
  }
  if (what.message.count() != 0) {
    text += ", messages of " + format_bytes_exact(what.message) + ", " +
            std::to_string(what.credits) + " of a flow under way";
  }
  return text;
}

std::string describe(const When& when) {
  std::string text = when.iteration ? "from iteration " + std::to_string(*when.iteration)
                                    : "from " + format_duration_exact(when.after);
  if (!when.phase.empty()) text += ", phase " + when.phase;
  if (when.iterations != 0) text += ", " + count_of(when.iterations, "iteration");
  text += ", at most " + format_duration_exact(when.length);
  if (when.on > Duration::zero()) {
    text +=
        "; " + format_duration_exact(when.on) + " on, " + format_duration_exact(when.off) + " off";
  }
  if (when.on_iterations != 0) {
    text += "; " + count_of(when.on_iterations, "iteration") + " on, " +
            std::to_string(when.off_iterations) + " off";
  }
  return text;
}

}  // namespace rehearsal::fault
