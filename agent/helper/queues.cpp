#include "agent/helper/queues.hpp"

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <cmath>

namespace rehearsal::agent {
namespace {

using fault::DropAll;
using fault::Impairment;
using fault::QueueSettings;
using fault::RateCap;
using fault::Share;

/// The unit of the kernel's "ticks" is 64 ns (PSCHED_SHIFT in include/net/pkt_sched.h).
constexpr std::uint64_t kNanosecondsOfATick = 64;
/// A burst holds what is sent in a millisecond, and at least a large packet of the sender.
constexpr std::uint64_t kBurstsASecond = 1000;
constexpr std::uint64_t kBurstBytesLeast = 64 * 1024;
/// A queue of so long waits behind it; more is dropped.
constexpr std::uint64_t kQueuesASecond = 50;
constexpr std::uint64_t kQueueBytesLeast = 256 * 1024;
/// Packets that can be under way in a netem: 100 Gbit/s of 1,500 bytes for 100 ms, and more.
constexpr std::uint32_t kNetemPackets = 1'000'000;

std::uint32_t saturated(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, UINT32_MAX));
}

/// A share of 2³² − 1, as netem wants it, and back.
std::uint32_t scaled(Share share) {
  return static_cast<std::uint32_t>(
      std::llround(static_cast<double>(share.millionths) * UINT32_MAX / Share::kAll));
}
Share unscaled(std::uint32_t value) {
  return {static_cast<std::uint32_t>(
      std::llround(static_cast<double>(value) * Share::kAll / UINT32_MAX))};
}

void put_options(netlink::Message& message, const RateCap& cap, std::uint32_t mtu_bytes) {
  const std::uint64_t rate = cap.rate.bits_per_second() / 8;
  const std::uint64_t burst =
      std::max({rate / kBurstsASecond, kBurstBytesLeast, std::uint64_t{mtu_bytes} + 64});
  tc_tbf_qopt options{};
  options.rate.rate = saturated(rate);
  options.rate.linklayer = TC_LINKLAYER_ETHERNET;
  options.limit = saturated(std::max(rate / kQueuesASecond, kQueueBytesLeast) + burst);
  options.buffer = saturated(burst * 1'000'000'000 / rate / kNanosecondsOfATick);
  const std::size_t begun = message.begin(TCA_OPTIONS);
  message.put_value(TCA_TBF_PARMS, options);
  message.put_value(TCA_TBF_BURST, saturated(burst));
  if (rate > UINT32_MAX) message.put_value(TCA_TBF_RATE64, rate);
  message.end(begun);
}

void put_options(netlink::Message& message, const Impairment& impairment, std::uint32_t) {
  const std::int64_t delay = impairment.delay.count();
  const std::int64_t jitter = impairment.jitter.count();
  tc_netem_qopt options{};
  options.latency = saturated(static_cast<std::uint64_t>(delay) / kNanosecondsOfATick);
  options.jitter = saturated(static_cast<std::uint64_t>(jitter) / kNanosecondsOfATick);
  options.limit = kNetemPackets;
  options.loss = scaled(impairment.loss);
  options.duplicate = scaled(impairment.duplicate);
  options.gap = impairment.reorder.millionths > 0 ? 1 : 0;
  const std::size_t begun = message.begin(TCA_OPTIONS);
  message.append(&options, sizeof options);
  message.put_value(TCA_NETEM_LATENCY64, delay);
  message.put_value(TCA_NETEM_JITTER64, jitter);
  if (impairment.reorder.millionths > 0) {
    message.put_value(TCA_NETEM_REORDER, tc_netem_reorder{scaled(impairment.reorder), 0});
  }
  if (impairment.corrupt.millionths > 0) {
    message.put_value(TCA_NETEM_CORRUPT, tc_netem_corrupt{scaled(impairment.corrupt), 0});
  }
  message.end(begun);
}

/// A queue of one byte takes no packet.
void put_options(netlink::Message& message, const DropAll&, std::uint32_t) {
  message.put_value(TCA_OPTIONS, tc_fifo_qopt{.limit = 1});
}

void put_options(netlink::Message&, const std::monostate&, std::uint32_t) {}

QueueSettings read_tbf(std::string_view bytes) {
  const netlink::Attributes options(bytes);
  const auto parameters = options.value<tc_tbf_qopt>(TCA_TBF_PARMS);
  if (!parameters) return {};
  const auto rate = options.value<std::uint64_t>(TCA_TBF_RATE64);
  return RateCap{BitRate{rate.value_or(parameters->rate.rate) * 8}};
}

QueueSettings read_netem(std::string_view bytes) {
  const auto parameters = netlink::family_of<tc_netem_qopt>(bytes);
  if (!parameters) return {};
  const auto more = netlink::attributes_of<tc_netem_qopt>(bytes);
  const auto nanoseconds = [&](std::uint16_t attribute, std::uint32_t ticks) {
    const auto exact = more.value<std::int64_t>(attribute);
    return Duration{exact.value_or(static_cast<std::int64_t>(ticks * kNanosecondsOfATick))};
  };
  Impairment impairment;
  impairment.delay = nanoseconds(TCA_NETEM_LATENCY64, parameters->latency);
  impairment.jitter = nanoseconds(TCA_NETEM_JITTER64, parameters->jitter);
  impairment.loss = unscaled(parameters->loss);
  impairment.duplicate = unscaled(parameters->duplicate);
  const auto reorder = more.value<tc_netem_reorder>(TCA_NETEM_REORDER);
  if (reorder) impairment.reorder = unscaled(reorder->probability);
  const auto corrupt = more.value<tc_netem_corrupt>(TCA_NETEM_CORRUPT);
  if (corrupt) impairment.corrupt = unscaled(corrupt->probability);
  return impairment;
}

QueueSettings read_bfifo(std::string_view bytes) {
  const auto parameters = netlink::family_of<tc_fifo_qopt>(bytes);
  if (parameters && parameters->limit == 1) return DropAll{};
  return {};
}

}  // namespace

std::string qdisc_kind(const QueueSettings& settings) {
  if (std::holds_alternative<RateCap>(settings)) return "tbf";
  if (std::holds_alternative<Impairment>(settings)) return "netem";
  return "bfifo";
}

void put_qdisc(netlink::Message& message, const QueueSettings& settings, std::uint32_t mtu_bytes) {
  message.put_text(TCA_KIND, qdisc_kind(settings));
  std::visit([&](const auto& value) { put_options(message, value, mtu_bytes); }, settings);
}

QueueSettings read_settings(std::string_view kind, std::string_view options) {
  if (kind == "tbf") return read_tbf(options);
  if (kind == "netem") return read_netem(options);
  if (kind == "bfifo") return read_bfifo(options);
  return {};
}

}  // namespace rehearsal::agent
