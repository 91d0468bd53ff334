// Stands for an agent that has faults on its host: asks the helper for them and renews their
// leases, or falls silent as an agent does that no coordinator tells to renew. Ends when the helper
// is gone.
//
//   agent_stand_in SOCKET LEASE renew|silent|undo FAULT…
//   FAULT: rate=IF=RATE  delay=IF=TIME  jitter=IF=TIME  blackhole=IF  link_down=IF  mtu=IF=BYTES
//          flow_control=IF=on|off|on-sent|off-sent  loss=IF=MILLIONTHS  duplicate=IF=… reorder=IF=…
//          corrupt=IF=…
// jitter and reorder come with a delay of 20 ms.

#include <poll.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "agent/fault/helper_client.hpp"
#include "core/base/units.hpp"

using namespace rehearsal;
using namespace rehearsal::fault;

namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  for (std::size_t equals = 0; equals != std::string::npos; at = equals + 1) {
    equals = text.find('=', at);
    parts.push_back(text.substr(at, equals - at));
  }
  parts.resize(3);
  return parts;
}

std::optional<Impairment> impairment_of(const std::string& kind, const std::string& amount) {
  if (kind == "delay") return Impairment{.delay = parse_duration(amount).value()};
  if (kind == "jitter")
    return Impairment{.delay = std::chrono::milliseconds{20},
                      .jitter = parse_duration(amount).value()};
  const Share share{static_cast<std::uint32_t>(std::strtoul(amount.c_str(), nullptr, 10))};
  if (kind == "loss") return Impairment{.loss = share};
  if (kind == "duplicate") return Impairment{.duplicate = share};
  if (kind == "reorder")
    return Impairment{.delay = std::chrono::milliseconds{20}, .reorder = share};
  if (kind == "corrupt") return Impairment{.corrupt = share};
  return std::nullopt;
}

KernelFault fault_of(const std::string& text) {
  const auto parts = split(text);
  const auto& [kind, interface, amount] = std::tie(parts[0], parts[1], parts[2]);
  if (kind == "rate") return {interface, Direction::sent, RateCap{parse_bit_rate(amount).value()}};
  if (const auto impairment = impairment_of(kind, amount))
    return {interface, Direction::sent, *impairment};
  if (kind == "blackhole") return {interface, Direction::sent, Blackhole{}};
  if (kind == "flow_control") {
    const auto direction = amount.ends_with("-sent") ? Direction::sent : Direction::both;
    return {interface, direction, PauseFrames{amount.starts_with("on")}};
  }
  if (kind == "link_down") return {interface, Direction::both, LinkDown{}};
  return {interface, Direction::both,
          SmallerMtu{static_cast<std::uint32_t>(std::strtoul(amount.c_str(), nullptr, 10))}};
}

void say(const std::string& text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 64;
  const Duration lease = parse_duration(argv[2]).value();
  const std::string mode = argv[3];
  auto helper = agent::HelperClient::connect(argv[1]);
  if (!helper) {
    say("no helper: " + helper.error().text());
    return 1;
  }
  for (int i = 4; i < argc; ++i) {
    const auto id = helper->apply(
        {.fault = fault_of(argv[i]), .lease = lease, .duration = std::chrono::minutes{1}});
    say(id ? "applied " + std::to_string(*id) : "refused " + id.error().text());
    if (mode == "renew" && id && !helper->renew(std::nullopt, lease)) return 1;
  }
  if (mode == "undo") {
    const auto undone = helper->undo(std::nullopt);
    if (!undone) return 1;
    for (const Undone& fault : undone->faults) {
      say(std::string(to_string(fault.outcome)) + " " + fault.text);
    }
  }
  say("holding");
  const auto wait_ms =
      static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(lease).count() / 3);
  for (;;) {
    pollfd watched{helper->descriptor(), POLLIN, 0};
    if (::poll(&watched, 1, mode == "renew" ? wait_ms : -1) > 0) break;
    if (!helper->renew(std::nullopt, lease)) break;
  }
  say("the helper is gone");
  return 0;
}
