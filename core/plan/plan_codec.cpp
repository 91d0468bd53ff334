#include "core/plan/plan_codec.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/encoding.hpp"
#include "core/plan/checks.hpp"
#include "core/plan/connection_estimate.hpp"
#include "core/plan/node_codec.hpp"
#include "core/plan/plan_faults.hpp"
#include "core/profile/binary.hpp"
#include "core/profile/limits.hpp"

namespace rehearsal::plan {
namespace {

constexpr std::string_view kMagic = "rehearsal-plan";
constexpr std::uint64_t kVersion = 4;
constexpr std::size_t kTextMax = 256;
constexpr std::size_t kTransportsMax = 16;
constexpr std::uint64_t kDurationMax = std::uint64_t{1} << 62;

using SharedProfile = std::shared_ptr<const profile::Profile>;

// --- writing -----------------------------------------------------------------------------------

void write(Encoder& encoder, Duration duration) {
  encoder.number(static_cast<std::uint64_t>(duration.count()));
}

void write(Encoder& encoder, const std::optional<RdmaPort>& port) {
  encoder.number(port ? 1 : 0);
  if (!port) return;
  encoder.text(port->device);
  encoder.number(port->port);
  encoder.number(port->active ? 1 : 0);
  encoder.number(port->ethernet ? 1 : 0);
  encoder.number(port->rate.bits_per_second());
  encoder.number(port->mtu);
  encoder.number(port->gids.size());
  for (const RdmaGid& gid : port->gids) {
    encoder.number(static_cast<std::uint64_t>(gid.type));
    encoder.text(gid.address);
  }
  encoder.number(port->rate_limits.min.bits_per_second());
  encoder.number(port->rate_limits.max.bits_per_second());
}

void write(Encoder& encoder, const Inventory& host) {
  encoder.text(host.host);
  encoder.number(host.nics.size());
  for (const Nic& nic : host.nics) {
    encoder.text(nic.name);
    encoder.text(nic.address);
    encoder.number(nic.line_rate.bits_per_second());
    encoder.number(nic.mtu);
    write(encoder, nic.rdma);
  }
  encoder.number(host.shared_nics ? 1 : 0);
  encoder.number(host.transports.size());
  for (const TransportKind kind : host.transports) encoder.number(static_cast<std::uint64_t>(kind));
}

// Jobs may share a profile: each is written once.
std::vector<SharedProfile> profiles_of(const Plan& plan) {
  std::vector<SharedProfile> profiles;
  for (const PlannedJob& job : plan.jobs) {
    if (std::ranges::find(profiles, job.profile) == profiles.end()) profiles.push_back(job.profile);
  }
  return profiles;
}

void write_jobs(Encoder& encoder, const Plan& plan) {
  const std::vector<SharedProfile> profiles = profiles_of(plan);
  encoder.number(profiles.size());
  for (const SharedProfile& profile : profiles) encoder.text(profile::to_binary(*profile));
  encoder.number(plan.jobs.size());
  for (const PlannedJob& job : plan.jobs) {
    encoder.text(job.name);
    const auto found = std::ranges::find(profiles, job.profile);
    encoder.number(static_cast<std::uint64_t>(found - profiles.begin()));
    encoder.number(job.bindings.size());
    for (const Binding& binding : job.bindings) {
      encoder.number(binding.host.value);
      encoder.number(binding.nic.value);
    }
    write_nodes(encoder, job);
  }
}

void write(Encoder& encoder, const RdmaSettings& rdma) {
  encoder.number(static_cast<std::uint64_t>(rdma.operation));
  encoder.number(rdma.queue_pairs);
  encoder.number(static_cast<std::uint64_t>(rdma.queue_pair_use));
  encoder.number(static_cast<std::uint64_t>(rdma.completions));
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
  encoder.number(rdma.ece ? 1 : 0);
}

void write_settings(Encoder& encoder, const Plan& plan) {
  encoder.number(static_cast<std::uint64_t>(plan.transport.kind));
  encoder.text(plan.transport.congestion_control);
  encoder.number(static_cast<std::uint64_t>(plan.transport.receive));
  encoder.number(plan.transport.verify_payload ? 1 : 0);
  write(encoder, plan.transport.rdma);
  encoder.number(plan.collectives.channels);
  encoder.number(plan.collectives.chunk.count());
  encoder.number(plan.collectives.slices_per_chunk);
  encoder.number(plan.collectives.pipeline_chunk.count());
  encoder.number(plan.collectives.point_to_point_chunk.count());
  encoder.number(plan.collectives.point_to_point_channels);
  encoder.number(plan.collectives.credits);
  encoder.number(plan.collectives.channel_bytes_min.count());
  encoder.number(plan.collectives.cross_nic);
  encoder.number(plan.collectives.pxn_level);
  encoder.number(plan.local.rate.bits_per_second());
  write(encoder, plan.local.latency);
  encoder.number(static_cast<std::uint64_t>(plan.synchronisation));
  encoder.number(plan.iterations);
  encoder.number(plan.seed);
  write(encoder, plan.limits.duration);
  write(encoder, plan.limits.progress);
  write(encoder, plan.limits.start_skew);
}

// --- reading -----------------------------------------------------------------------------------

class Reader {
 public:
  explicit Reader(std::string_view bytes) : decoder_(bytes) {}

  Result<Plan> plan() {
    Plan plan;
    RETURN_IF_ERROR(header());
    ASSIGN_OR_RETURN(plan.drill, decoder_.text(kTextMax));
    RETURN_IF_ERROR(hosts(plan));
    RETURN_IF_ERROR(jobs(plan));
    RETURN_IF_ERROR(settings(plan));
    RETURN_IF_ERROR(expectations(plan));
    ASSIGN_OR_RETURN(plan.faults, read_faults(decoder_, plan));
    if (decoder_.remaining() != 0) return wrong("there are bytes after the end of the plan");
    return plan;
  }

 private:
  Failure wrong(std::string_view what) const {
    return invalid("byte " + std::to_string(decoder_.offset()) + ": " + std::string(what));
  }

  Result<void> header() {
    ASSIGN_OR_RETURN(const std::string magic, decoder_.text(kMagic.size()));
    if (magic != kMagic) return wrong("this is no plan");
    ASSIGN_OR_RETURN(const std::uint64_t version, decoder_.number());
    if (version == kVersion) return {};
    return wrong("the plan has version " + std::to_string(version) + "; this program reads " +
                 std::to_string(kVersion));
  }

  Result<std::size_t> count(std::size_t element_size_min, std::size_t most, std::string_view what) {
    ASSIGN_OR_RETURN(const std::size_t found, decoder_.count(element_size_min, what));
    if (found <= most) return found;
    return wrong(std::to_string(found) + " " + std::string(what) + ", at most " +
                 std::to_string(most) + " are possible");
  }

  template <typename Number>
  Result<void> number(Number& target, std::string_view what) {
    ASSIGN_OR_RETURN(target, decoder_.number_up_to(std::numeric_limits<Number>::max(), what)
                                 .map([](std::uint64_t value) { return Number(value); }));
    return {};
  }
  Result<void> number(Bytes& target, std::string_view what) {
    std::uint64_t value = 0;
    RETURN_IF_ERROR(number(value, what));
    target = Bytes{value};
    return {};
  }
  Result<void> number(BitRate& target, std::string_view what) {
    std::uint64_t value = 0;
    RETURN_IF_ERROR(number(value, what));
    target = BitRate{value};
    return {};
  }
  Result<void> number(Duration& target, std::string_view what) {
    ASSIGN_OR_RETURN(const std::uint64_t value, decoder_.number_up_to(kDurationMax, what));
    target = Duration{static_cast<std::int64_t>(value)};
    return {};
  }
  template <typename Enum>
  Result<void> word(Enum& target, Enum last, std::string_view what) {
    ASSIGN_OR_RETURN(const std::uint64_t value,
                     decoder_.number_up_to(static_cast<std::uint64_t>(last), what));
    target = static_cast<Enum>(value);
    return {};
  }

  Result<void> hosts(Plan& plan) {
    ASSIGN_OR_RETURN(const std::size_t hosts, count(4, kJobsMax * kHostsMax, "hosts"));
    for (std::size_t i = 0; i < hosts; ++i) {
      Inventory& host = plan.hosts.emplace_back();
      ASSIGN_OR_RETURN(host.host, decoder_.text(kNameMax));
      ASSIGN_OR_RETURN(const std::size_t nics, count(5, kInventoryNicsMax, "NICs"));
      for (std::size_t j = 0; j < nics; ++j) {
        Nic& nic = host.nics.emplace_back();
        ASSIGN_OR_RETURN(nic.name, decoder_.text(kNicTextMax));
        ASSIGN_OR_RETURN(nic.address, decoder_.text(kNicTextMax));
        RETURN_IF_ERROR(number(nic.line_rate, "a line rate"));
        RETURN_IF_ERROR(number(nic.mtu, "an MTU"));
        RETURN_IF_ERROR(rdma_port(nic.rdma));
      }
      ASSIGN_OR_RETURN(const std::uint64_t shared, decoder_.number_up_to(1, "shared NICs"));
      host.shared_nics = shared == 1;
      ASSIGN_OR_RETURN(const std::size_t transports, count(1, kTransportsMax, "transports"));
      for (std::size_t j = 0; j < transports; ++j) {
        RETURN_IF_ERROR(
            word(host.transports.emplace_back(), kTransportKindLast, "a kind of transport"));
      }
    }
    return {};
  }

  Result<void> yes_or_no(bool& target, std::string_view what) {
    ASSIGN_OR_RETURN(const std::uint64_t value, decoder_.number_up_to(1, what));
    target = value == 1;
    return {};
  }

  Result<void> rdma_port(std::optional<RdmaPort>& target) {
    bool there = false;
    RETURN_IF_ERROR(yes_or_no(there, "whether there is an RDMA port"));
    if (!there) return {};
    RdmaPort& port = target.emplace();
    ASSIGN_OR_RETURN(port.device, decoder_.text(kNicTextMax));
    RETURN_IF_ERROR(number(port.port, "the number of an RDMA port"));
    RETURN_IF_ERROR(yes_or_no(port.active, "whether an RDMA port is active"));
    RETURN_IF_ERROR(yes_or_no(port.ethernet, "whether an RDMA port is of Ethernet"));
    RETURN_IF_ERROR(number(port.rate, "the rate of an RDMA port"));
    RETURN_IF_ERROR(number(port.mtu, "the MTU of an RDMA port"));
    ASSIGN_OR_RETURN(const std::size_t gids, count(2, kGidsMax, "GIDs"));
    for (std::size_t i = 0; i < gids; ++i) {
      RdmaGid& gid = port.gids.emplace_back();
      RETURN_IF_ERROR(word(gid.type, GidType::roce_v2, "the type of a GID"));
      ASSIGN_OR_RETURN(gid.address, decoder_.text(kNicTextMax));
    }
    RETURN_IF_ERROR(number(port.rate_limits.min, "the least rate limit of an RDMA port"));
    RETURN_IF_ERROR(number(port.rate_limits.max, "the highest rate limit of an RDMA port"));
    return {};
  }

  Result<void> rdma_settings(RdmaSettings& rdma) {
    RETURN_IF_ERROR(word(rdma.operation, RdmaOperation::send, "operation"));
    RETURN_IF_ERROR(number(rdma.queue_pairs, "queue_pairs"));
    RETURN_IF_ERROR(word(rdma.queue_pair_use, QueuePairUse::split, "queue_pair_use"));
    RETURN_IF_ERROR(word(rdma.completions, CompletionMode::event, "completions"));
    RETURN_IF_ERROR(number(rdma.traffic_class, "traffic_class"));
    RETURN_IF_ERROR(number(rdma.service_level, "service_level"));
    RETURN_IF_ERROR(number(rdma.hop_limit, "hop_limit"));
    RETURN_IF_ERROR(number(rdma.flow_label, "flow_label"));
    RETURN_IF_ERROR(number(rdma.ack_timeout, "ack_timeout"));
    RETURN_IF_ERROR(number(rdma.retry_count, "retry_count"));
    RETURN_IF_ERROR(number(rdma.rnr_retry, "rnr_retry"));
    RETURN_IF_ERROR(number(rdma.rnr_timer, "rnr_timer"));
    RETURN_IF_ERROR(number(rdma.path_mtu, "path_mtu"));
    RETURN_IF_ERROR(number(rdma.rate_limit, "rate_limit"));
    return yes_or_no(rdma.ece, "ece");
  }

  Result<void> jobs(Plan& plan) {
    ASSIGN_OR_RETURN(const std::size_t profile_count, count(1, kJobsMax, "profiles"));
    std::vector<SharedProfile> profiles;
    std::vector<std::string> identities;
    for (std::size_t i = 0; i < profile_count; ++i) {
      const std::size_t start = decoder_.offset();
      ASSIGN_OR_RETURN(const std::string binary, decoder_.text(profile::kBinaryBytesMax));
      auto profile = profile::from_binary(binary);
      if (!profile) {
        return Failure{profile.error().within("profile at byte " + std::to_string(start))};
      }
      const std::vector<std::string> problems = profile::problems(*profile);
      if (!problems.empty()) return wrong("the profile is not valid: " + problems.front());
      identities.push_back(profile::identity(*profile));
      profiles.push_back(std::make_shared<const profile::Profile>(std::move(*profile)));
    }
    ASSIGN_OR_RETURN(const std::size_t job_count, count(3, kJobsMax, "jobs"));
    for (std::size_t i = 0; i < job_count; ++i) {
      PlannedJob& job = plan.jobs.emplace_back();
      ASSIGN_OR_RETURN(job.name, decoder_.text(kNameMax));
      ASSIGN_OR_RETURN(const std::uint64_t index, decoder_.number());
      if (index >= profiles.size()) return wrong("a job has a profile that is not there");
      job.profile = profiles[index];
      job.profile_identity = identities[index];
      RETURN_IF_ERROR(bindings(plan, job));
      RETURN_IF_ERROR(read_nodes(decoder_, job));
    }
    return {};
  }

  Result<void> bindings(const Plan& plan, PlannedJob& job) {
    ASSIGN_OR_RETURN(const std::size_t ranks, decoder_.count(2, "bindings"));
    if (ranks != job.profile->ranks) return wrong("not as many bindings as the profile has ranks");
    job.bindings.resize(ranks);
    for (Binding& binding : job.bindings) {
      RETURN_IF_ERROR(number(binding.host.value, "a host"));
      RETURN_IF_ERROR(number(binding.nic.value, "a NIC"));
      if (binding.host.value >= plan.hosts.size())
        return wrong("a rank on a host that is not there");
      if (binding.nic.value >= plan.hosts[binding.host.value].nics.size()) {
        return wrong("a rank on a NIC that is not there");
      }
    }
    return {};
  }

  Result<void> settings(Plan& plan) {
    RETURN_IF_ERROR(word(plan.transport.kind, kTransportKindLast, "the kind of transport"));
    ASSIGN_OR_RETURN(plan.transport.congestion_control, decoder_.text(kTextMax));
    RETURN_IF_ERROR(word(plan.transport.receive, ReceiveMode::discard, "the receive mode"));
    RETURN_IF_ERROR(yes_or_no(plan.transport.verify_payload, "verify_payload"));
    RETURN_IF_ERROR(rdma_settings(plan.transport.rdma));
    CollectiveSettings& collectives = plan.collectives;
    RETURN_IF_ERROR(number(collectives.channels, "channels"));
    RETURN_IF_ERROR(number(collectives.chunk, "chunk"));
    RETURN_IF_ERROR(number(collectives.slices_per_chunk, "slices_per_chunk"));
    RETURN_IF_ERROR(number(collectives.pipeline_chunk, "pipeline_chunk"));
    RETURN_IF_ERROR(number(collectives.point_to_point_chunk, "point_to_point_chunk"));
    RETURN_IF_ERROR(number(collectives.point_to_point_channels, "point_to_point_channels"));
    RETURN_IF_ERROR(number(collectives.credits, "credits"));
    RETURN_IF_ERROR(number(collectives.channel_bytes_min, "channel_bytes_min"));
    RETURN_IF_ERROR(number(collectives.cross_nic, "cross_nic"));
    RETURN_IF_ERROR(number(collectives.pxn_level, "pxn_level"));
    RETURN_IF_ERROR(number(plan.local.rate, "the local rate"));
    RETURN_IF_ERROR(number(plan.local.latency, "the local latency"));
    RETURN_IF_ERROR(word(plan.synchronisation, SyncMode::phase, "synchronisation"));
    RETURN_IF_ERROR(number(plan.iterations, "iterations"));
    RETURN_IF_ERROR(number(plan.seed, "the seed"));
    RETURN_IF_ERROR(number(plan.limits.duration, "limits.duration"));
    RETURN_IF_ERROR(number(plan.limits.progress, "limits.progress"));
    return number(plan.limits.start_skew, "limits.start_skew");
  }

  Result<void> stage(std::optional<Stage>& target) {
    ASSIGN_OR_RETURN(const std::uint64_t written, decoder_.number_up_to(3, "a stage"));
    if (written != 0) target = static_cast<Stage>(written - 1);
    return {};
  }

  Result<void> expectations(Plan& plan) {
    ASSIGN_OR_RETURN(const std::size_t expected, count(8, kExpectationsMax, "expectations"));
    for (std::size_t i = 0; i < expected; ++i) {
      Expectation& expectation = plan.expectations.emplace_back();
      ASSIGN_OR_RETURN(expectation.metric, decoder_.text(kTextMax));
      RETURN_IF_ERROR(number(expectation.at_most, "at_most"));
      RETURN_IF_ERROR(number(expectation.at_least, "at_least"));
      RETURN_IF_ERROR(stage(expectation.stage));
      RETURN_IF_ERROR(number(expectation.at_most_of_before.millionths, "at_most"));
      RETURN_IF_ERROR(number(expectation.within.millionths, "within"));
      RETURN_IF_ERROR(number(expectation.iterations, "iterations"));
      ASSIGN_OR_RETURN(expectation.of_fault, decoder_.text(kTextMax));
    }
    return {};
  }

  Decoder decoder_;
};

// The drill that this plan could have come from, for the checks that drills get.
Drill drill_of(const Plan& plan) {
  Drill drill;
  drill.name = plan.drill;
  drill.transport = plan.transport;
  drill.collectives = plan.collectives;
  drill.local = {plan.local.rate, plan.local.latency};
  drill.synchronisation = plan.synchronisation;
  drill.iterations = plan.iterations;
  drill.seed = plan.seed;
  drill.limits = plan.limits;
  drill.expectations = plan.expectations;
  for (const PlannedJob& job : plan.jobs) {
    DrillJob& drill_job = drill.jobs.emplace_back();
    drill_job.name = job.name;
    drill_job.profile = job.profile_identity;
    drill_job.hosts = {plan.hosts[job.bindings.front().host.value].host};
  }
  return drill;
}

Result<Plan> decode_and_check(std::string_view bytes) {
  if (bytes.size() > kPlanBytesMax) {
    return invalid(std::to_string(bytes.size()) + " bytes, at most " +
                   std::to_string(kPlanBytesMax) + " are possible");
  }
  ASSIGN_OR_RETURN(Plan plan, Reader(bytes).plan());
  RETURN_IF_ERROR(check_all(drill_of(plan)));
  for (std::uint32_t job = 0; job < plan.jobs.size(); ++job)
    RETURN_IF_ERROR(check_choices(plan, JobIndex{job}));
  RETURN_IF_ERROR(check_connections(plan));
  return plan;
}

}  // namespace

std::string encode(const Plan& plan) {
  Encoder encoder;
  encoder.text(kMagic);
  encoder.number(kVersion);
  encoder.text(plan.drill);
  encoder.number(plan.hosts.size());
  for (const Inventory& host : plan.hosts) write(encoder, host);
  write_jobs(encoder, plan);
  write_settings(encoder, plan);
  encoder.number(plan.expectations.size());
  for (const Expectation& expectation : plan.expectations) {
    encoder.text(expectation.metric);
    write(encoder, expectation.at_most);
    encoder.number(expectation.at_least.bits_per_second());
    encoder.number(expectation.stage ? static_cast<std::uint64_t>(*expectation.stage) + 1 : 0);
    encoder.number(expectation.at_most_of_before.millionths);
    encoder.number(expectation.within.millionths);
    encoder.number(expectation.iterations);
    encoder.text(expectation.of_fault);
  }
  write_faults(encoder, plan.faults);
  return encoder.take();
}

Result<Plan> decode(std::string_view bytes) {
  auto plan = decode_and_check(bytes);
  if (plan) return plan;
  return Failure{
      Error{ErrorCode::protocol, ErrorSource::control, "plan: " + plan.error().text(), nullptr}};
}

}  // namespace rehearsal::plan
