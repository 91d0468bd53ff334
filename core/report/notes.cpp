#include "core/report/notes.hpp"

#include <algorithm>

#include "core/plan/device_faults.hpp"
#include "core/plan/plan_faults.hpp"
#include "core/report/health.hpp"
#include "core/report/nic_series.hpp"

namespace rehearsal::report {
namespace {

bool any_shared_nics(const plan::Plan& plan) {
  return std::ranges::any_of(plan.hosts,
                             [](const plan::Inventory& host) { return host.shared_nics; });
}

bool any_counter(const Summary& summary) {
  return std::ranges::any_of(
      summary.nics, [](const NicSummary& nic) { return nic.counter_sent || nic.counter_received; });
}

std::string how_received(const TransportSummary& transport) {
  if (transport.copied > Bytes{0} && transport.discarded > Bytes{0}) {
    return "Receivers copied " + format_bytes(transport.copied) +
           " of payload to user space; the "
           "kernel discarded " +
           format_bytes(transport.discarded) + " for them (MSG_TRUNC).";
  }
  if (transport.discarded > Bytes{0}) {
    return "The kernel discarded received payload (MSG_TRUNC); nothing was copied to user space.";
  }
  return "Receivers copied the payload to user space.";
}

Bytes local_bytes(const Summary& summary) {
  Bytes local;
  for (const JobSummary& job : summary.jobs) local += job.bytes_local;
  return local;
}

/// More than headers, acknowledgements of what goes the other way and housekeeping add to payload.
bool far_from(Bytes counter, Bytes payload, Bytes other_way) {
  return counter < payload || counter > payload + payload / 4 + other_way / 20 + Bytes{1U << 20};
}

/// What the host's kernel counted on a NIC is not what the run put there.
std::string counter_warning(const NicSummary& nic, std::string_view direction, Bytes counter,
                            Bytes payload) {
  return "NIC " + nic.host + " " + nic.nic + ": its counter says " + format_bytes(counter) + " " +
         std::string(direction) + ", the run " + format_bytes(payload) +
         ": other traffic is on it, or a route leads past it.";
}

}  // namespace

std::vector<std::string> transport_notes(const plan::Plan& plan, const Summary& summary) {
  const TransportSummary& transport = summary.transport;
  std::vector<std::string> notes;
  if (transport.byte_source == "posted") {
    notes.push_back(
        "Bytes are payload, counted as messages are handed to the transport and taken from it "
        "(posted).");
  } else if (!transport.byte_source.empty()) {
    notes.push_back("Bytes are payload, source: " + transport.byte_source + ".");
  }
  if (any_shared_nics(plan)) {
    notes.push_back("Agents share a NIC, so its counters mix them and are not shown.");
  } else if (any_counter(summary)) {
    notes.push_back("NIC counters stand beside them; they count headers too.");
  }
  if (std::ranges::any_of(summary.bursts, is_counter, &BurstSummary::source)) {
    notes.push_back(
        "Bursts with a counter as their source are bytes on the wire, headers and retransmissions "
        "included, as the NIC counted them: read every millisecond, in wider bins where the device "
        "renews its counter more seldom.");
  }
  if (plan.transport.kind == plan::TransportKind::tcp) {
    notes.push_back("Transport TCP" +
                    (transport.congestion_control.empty()
                         ? std::string()
                         : ", congestion control " + transport.congestion_control) +
                    ": no figure here is one of RDMA.");
    if (!transport.byte_source.empty()) notes.push_back(how_received(transport));
  }
  if (plan.transport.kind == plan::TransportKind::rdma) {
    notes.push_back(
        "Transport RDMA over verbs, reliable connections; a message counts as sent when its "
        "completion says that the peer has it.");
    if (plan.transport.rdma.flow_label != 0)
      notes.push_back(
          "A flow label was asked for; whether the UDP source port follows it is the "
          "provider's choice (rxe does).");
  }
  for (const fault::PlannedFault& fault : plan.faults) {
    const std::string devices = plan::device_text(plan, fault);
    if (!devices.empty())
      notes.push_back("Fault " + fault.name + " was done by " + plan::mechanism_text(fault) + " (" +
                      devices + ").");
  }
  for (const std::string& line : transport.bound) notes.push_back("Bound on " + line + ".");
  if (plan.transport.verify_payload)
    notes.push_back("Every message was stamped by its sender and checked by its receiver.");
  notes.push_back("No arithmetic is done on payload: reductions are not computed.");
  notes.push_back(
      "The time of a collective is the shortest (done - ready) over its ranks; algbw and busbw are "
      "of the median.");
  if (local_bytes(summary) > Bytes{0}) {
    notes.push_back("Ranks of one agent hand over in memory: local bytes, modelled at " +
                    format_bit_rate(static_cast<double>(plan.local.rate.bits_per_second())) +
                    " and " + format_duration(plan.local.latency) + ".");
  }
  return notes;
}

std::vector<std::string> warnings(const plan::Plan& plan, const Summary& summary) {
  std::vector<std::string> result;
  const bool has_phases = std::ranges::any_of(
      plan.jobs, [](const plan::PlannedJob& job) { return job.profile->phases.size() > 1; });
  if (plan.synchronisation == plan::SyncMode::phase && has_phases) {
    result.push_back("Phases are kept in step: what the job overlaps across phases is lost.");
  }
  for (const plan::PlannedJob& job : plan.jobs) {
    if (!job.node || job.node->per_host < 2) continue;
    result.push_back("Job " + job.name + ": up to " + std::to_string(job.node->per_host) +
                     " nodes share a host; what passes between them is local here, and would be on "
                     "the wire in the job.");
  }
  const bool widened = std::ranges::any_of(summary.bursts, [](const BurstSummary& burst) {
    return !is_counter(burst.source) && burst.statistics.bin > measure::kBinDefault;
  });
  if (widened) {
    result.push_back(
        "The run was longer than its finest bins: some peak-to-mean figures are coarse.");
  }
  for (const NicSummary& nic : summary.nics) {
    for (const std::string& warning : health_warnings(nic)) result.push_back(warning);
    // What a NIC's hardware sends as RDMA its network interface may not count.
    if (plan.transport.kind == plan::TransportKind::rdma) continue;
    const Bytes sent = nic.sent + nic.background_sent;
    const Bytes received = nic.received + nic.background_received;
    if (nic.counter_sent && far_from(*nic.counter_sent, sent, received)) {
      result.push_back(counter_warning(nic, "sent", *nic.counter_sent, sent));
    }
    if (nic.counter_received && far_from(*nic.counter_received, received, sent)) {
      result.push_back(counter_warning(nic, "received", *nic.counter_received, received));
    }
  }
  return result;
}

}  // namespace rehearsal::report
