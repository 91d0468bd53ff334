#include "core/base/encoding.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/plan_faults.hpp"

namespace rehearsal::plan {
namespace {

// Changes when the list of what is hashed changes: hashes of before and after then differ.
constexpr std::string_view kDomain = "rehearsal plan 1";

void encode(Encoder& encoder, Duration duration) {
  encoder.number(static_cast<std::uint64_t>(duration.count()));
}

void encode(Encoder& encoder, const RdmaSettings& rdma) {
  encoder.text(to_string(rdma.operation));
  encoder.number(rdma.queue_pairs);
  encoder.text(to_string(rdma.queue_pair_use));
  encoder.text(to_string(rdma.completions));
  encoder.number(rdma.traffic_class);
  encoder.number(rdma.service_level);
  encoder.number(rdma.hop_limit);
  encoder.number(rdma.flow_label);
  encoder.number(rdma.ack_timeout);
  encoder.number(rdma.retry_count);
  encoder.number(rdma.rnr_retry);
  encoder.number(rdma.rnr_timer);
  encoder.number(rdma.path_mtu);
  encoder.number(rdma.rate_limit.bits_per_second());
  // Only where it was changed, so that the hash of a plan without it is what it always was.
  if (!rdma.ece) encoder.text("no ece");
}

void encode(Encoder& encoder, const TransportSettings& transport) {
  encoder.text(to_string(transport.kind));
  encoder.text(transport.congestion_control);
  encoder.text(to_string(transport.receive));
  // Only where it acts, so that the hash of a run over TCP is what it always was.
  if (transport.verify_payload) encoder.text("verify_payload");
  if (transport.kind == TransportKind::rdma) encode(encoder, transport.rdma);
}

void encode(Encoder& encoder, const CollectiveSettings& settings) {
  encoder.number(settings.channels);
  encoder.number(settings.chunk.count());
  encoder.number(settings.slices_per_chunk);
  encoder.number(settings.pipeline_chunk.count());
  encoder.number(settings.point_to_point_chunk.count());
  encoder.number(settings.point_to_point_channels);
  encoder.number(settings.credits);
  encoder.number(settings.channel_bytes_min.count());
  // Only where they were changed, so that the hash of a plan without them is what it always was.
  const CollectiveSettings defaults;
  if (settings.cross_nic != defaults.cross_nic) {
    encoder.text("cross_nic");
    encoder.number(settings.cross_nic);
  }
  if (settings.pxn_level != defaults.pxn_level) {
    encoder.text("pxn_level");
    encoder.number(settings.pxn_level);
  }
}

// Only where nodes are known, so that the hash of a plan without them is what it always was.
void encode_nodes(Encoder& encoder, const PlannedJob& job) {
  if (!job.node) return;
  encoder.text("nodes");
  for (const Seat& seat : job.seats) {
    encoder.number(seat.node);
    encoder.number(seat.rail);
  }
  encoder.number(job.choices.size());
  for (const OpChoice& picked : job.choices) {
    encoder.number(picked.communicator.value);
    encoder.text(to_string(picked.kind));
    encoder.number(picked.bytes.count());
    encoder.number(picked.peer_bytes ? *picked.peer_bytes + std::uint64_t{1} : 0);
    encoder.text(to_string(picked.choice.algorithm));
    encoder.text(to_string(picked.choice.protocol));
    encoder.number(picked.choice.channels);
    encoder.number(picked.choice.chunk.count());
    encoder.number(picked.choice.slices_per_chunk);
    encoder.number(picked.choice.credits);
    encoder.number(picked.choice.channels_per_peer);
  }
}

void encode(Encoder& encoder, const Limits& limits) {
  encode(encoder, limits.duration);
  encode(encoder, limits.progress);
  encode(encoder, limits.start_skew);
}

}  // namespace

std::string plan_hash(const Plan& plan) {
  Encoder encoder;
  encoder.text(kDomain);
  encoder.number(plan.jobs.size());
  for (const PlannedJob& job : plan.jobs) {
    encoder.text(job.profile_identity);
    encoder.number(job.bindings.size());
    for (const Binding& binding : job.bindings) {
      const Inventory& host = plan.hosts[binding.host.value];
      encoder.text(host.host);
      encoder.text(host.nics[binding.nic.value].name);
    }
    encode_nodes(encoder, job);
  }
  encode(encoder, plan.transport);
  encode(encoder, plan.collectives);
  encoder.number(plan.local.rate.bits_per_second());
  encode(encoder, plan.local.latency);
  encoder.text(to_string(plan.synchronisation));
  encoder.number(plan.iterations);
  encoder.number(plan.seed);
  encode(encoder, plan.limits);
  if (!plan.faults.empty()) {  // so that the hash of a plan without them is what it always was
    encoder.text("faults");
    write_faults(encoder, plan.faults);
  }
  return sha256_hex(encoder.bytes());
}

}  // namespace rehearsal::plan
