#include "core/plan/rdma.hpp"

#include <algorithm>
#include <array>

#include "core/base/names.hpp"
#include "core/base/text.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::plan {
namespace {

constexpr std::array kTypes = {GidType::infiniband, GidType::roce_v1, GidType::roce_v2};

std::string gids_of(const RdmaPort& port) {
  std::string text;
  for (const RdmaGid& gid : port.gids) {
    text +=
        (text.empty() ? "" : ", ") + gid.address + " (" + std::string(to_string(gid.type)) + ")";
  }
  return text.empty() ? "none" : text;
}

bool is_ipv6(std::string_view address) { return address.find(':') != std::string_view::npos; }

std::string describe(const Inventory& host, const Nic& nic) {
  return "host " + in_quotes(host.host) + ", NIC " + nic.name;
}

Failure wrong(std::string what) {
  return fail(ErrorCode::unsupported, ErrorSource::config, "transport.kind: " + std::move(what));
}

// The device's own limit, where the drill asks for one.
Result<void> check_rate_limit(const Inventory& host, const Nic& nic, BitRate wanted) {
  if (wanted == BitRate{}) return {};
  const RdmaPort& port = *nic.rdma;
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::unsupported, ErrorSource::config,
                "transport.rate_limit: " + describe(host, nic) + ": " + port.device + why);
  };
  if (port.rate_limits.allow(wanted)) return {};
  if (!port.rate_limits.any())
    return refuse(
        " has no limit of its own for the rate of a queue pair (RC); leave rate_limit out, or let "
        "the sender do it: a fault {kind: rate, mechanism: sender}");
  return refuse(" limits a queue pair to " + to_string(port.rate_limits) + ", the drill asks for " +
                format_bit_rate_exact(wanted));
}

/// What all NICs of a run must have in common, and who said so first.
struct Common {
  std::optional<RdmaGid> gid;
  std::string who;
};

Result<void> check_nic(const Inventory& host, const Nic& nic, Common& common) {
  const auto gid = choose_gid(nic);
  if (!gid) return Failure{gid.error().within("transport.kind: " + describe(host, nic))};
  if (!common.gid) {
    common = {.gid = *gid, .who = describe(host, nic)};
    return {};
  }
  const bool ethernet = gid->type != GidType::infiniband;
  if (gid->type == common.gid->type &&
      (!ethernet || is_ipv6(gid->address) == is_ipv6(common.gid->address))) {
    return {};
  }
  return wrong(describe(host, nic) + " has " + gid->address + " (" +
               std::string(to_string(gid->type)) + "), " + common.who + " has " +
               common.gid->address + " (" + std::string(to_string(common.gid->type)) +
               "), and the two cannot talk; give all data NICs addresses of one family on ports "
               "of one kind");
}

}  // namespace

std::string to_string(const RateLimits& limits) {
  return format_bit_rate_exact(limits.min) + " … " + format_bit_rate_exact(limits.max);
}

std::string_view to_string(GidType type) {
  switch (type) {
    case GidType::infiniband:
      return "IB";
    case GidType::roce_v1:
      return "RoCE v1";
    case GidType::roce_v2:
      return "RoCE v2";
  }
  return "?";
}

std::optional<GidType> gid_type(std::string_view text) { return value_named(kTypes, text); }

Result<RdmaGid> choose_gid(const Nic& nic) {
  if (!nic.rdma) {
    return fail(
        ErrorCode::not_found, ErrorSource::host,
        "[REHEARSAL-RDMA-002] no RDMA port belongs to it; `rehearse status --json` lists what "
        "agents have");
  }
  const RdmaPort& port = *nic.rdma;
  const std::string name = port.device + " port " + std::to_string(port.port);
  if (!port.active) {
    return fail(ErrorCode::refused, ErrorSource::host,
                "[REHEARSAL-RDMA-005] " + name + " was not active when its agent started");
  }
  if (!port.ethernet) {
    const auto found = std::ranges::find(port.gids, GidType::infiniband, &RdmaGid::type);
    if (found != port.gids.end()) return *found;
  }
  for (const GidType type : {GidType::roce_v2, GidType::roce_v1}) {
    for (const RdmaGid& gid : port.gids) {
      if (gid.type == type && gid.address == nic.address) return gid;
    }
  }
  return fail(ErrorCode::not_found, ErrorSource::host,
              "[REHEARSAL-RDMA-006] " + name + " has no GID for " + nic.address + "; it has " +
                  gids_of(port));
}

Result<void> check_rdma(const Plan& plan) {
  Common common;
  for (const PlannedJob& job : plan.jobs) {
    for (const Binding& binding : job.bindings) {
      const Inventory& host = plan.hosts[binding.host.value];
      const Nic& nic = host.nics[binding.nic.value];
      RETURN_IF_ERROR(check_nic(host, nic, common));
      RETURN_IF_ERROR(check_rate_limit(host, nic, plan.transport.rdma.rate_limit));
    }
  }
  return {};
}

}  // namespace rehearsal::plan
