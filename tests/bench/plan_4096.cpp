// What planning a job of 4,096 ranks costs: make_plan, the load, the table and plan.json, as the
// coordinator makes them for `rehearse plan`. The peer is the plain walk over the messages of one
// iteration that a planner without closed forms needs: it is timed on a few ranks and scaled up.
// One line of JSON a job and layout, in seconds (lower is better); peak_rss_mib is that of the
// whole process so far.
//
//   plan_4096 [ROUNDS]
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/plan/op_traffic.hpp"
#include "core/plan/plan_json.hpp"
#include "core/plan/plan_table.hpp"

namespace rehearsal::bench {
namespace {

using profile::OpKind;
constexpr std::uint32_t kRanks = 4096;
constexpr std::uint32_t kRanksWalked = 4;

struct Layout {
  const char* name;
  std::uint32_t hosts;
  std::uint32_t nics;
  const char* node = "";  // of the drill
};

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "plan_4096: %s\n", why.c_str());
  std::exit(1);
}

std::shared_ptr<const profile::Profile> profile_of(OpKind kind, std::uint64_t bytes) {
  profile::Profile profile;
  profile.name = "bench";
  profile.ranks = kRanks;
  profile.streams = {"main"};
  profile.phases = {"iteration"};
  std::vector<Rank> all;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) all.push_back(Rank{rank});
  profile.communicators = {{"world", all}};
  profile::Op op;
  op.kind = kind;
  op.bytes = Bytes{bytes};
  profile.classes = {{"all", all, {op}}};
  return std::make_shared<const profile::Profile>(std::move(profile));
}

std::vector<plan::Inventory> inventories_of(const Layout& layout) {
  std::vector<plan::Inventory> inventories;
  for (std::uint32_t host = 0; host < layout.hosts; ++host) {
    plan::Inventory& inventory = inventories.emplace_back();
    inventory.host = "host" + std::to_string(host);
    for (std::uint32_t nic = 0; nic < layout.nics; ++nic)
      inventory.nics.push_back({.name = "rail" + std::to_string(nic),
                                .address = "10.0.0.1",
                                .line_rate = BitRate{400'000'000'000},
                                .mtu = 9000});
  }
  return inventories;
}

struct Planned {
  plan::Plan plan;
  std::size_t text_bytes = 0;
};

Planned plan_once(const std::shared_ptr<const profile::Profile>& profile, const Layout& layout) {
  const auto inventories = inventories_of(layout);
  plan::Drill drill;
  drill.name = "bench";
  plan::DrillJob& job = drill.jobs.emplace_back();
  job.name = "bench";
  job.profile = "bench";
  job.node = layout.node;
  for (const plan::Inventory& inventory : inventories) job.hosts.push_back(inventory.host);
  auto made = plan::make_plan(drill, inventories, {{"bench", profile}});
  if (!made) give_up(made.error().text());
  const plan::Load load = plan::expand_load(*made);
  if (load.jobs[0].on_wire.count() == 0) give_up("nothing is on the wire");
  const std::size_t text =
      plan::plan_table(*made, load).size() + plan::plan_json(*made, load).size();
  return {std::move(*made), text};
}

/// Seconds that walking every message of every rank would take.
double walk_all(const plan::Plan& plan) {
  const auto begin = std::chrono::steady_clock::now();
  plan::OpExpander expander{plan, JobIndex{0}};
  const profile::Op& op = plan.jobs[0].profile->classes[0].ops[0];
  std::uint64_t bytes = 0;
  for (std::uint32_t rank = 0; rank < kRanksWalked; ++rank) {
    const collective::Expansion expansion = expander.expand(op, Rank{rank});
    for (std::uint32_t lane = 0; lane < expansion.lane_count(); ++lane) {
      collective::Cursor cursor = expansion.lane(lane);
      for (collective::Step step; cursor.next(step);)
        if (collective::sends(step.action)) bytes += step.bytes;
    }
  }
  if (bytes == 0) give_up("nothing was walked");
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  return taken.count() * kRanks / kRanksWalked;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

long peak_rss_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

void bench(const char* name, OpKind kind, std::uint64_t bytes, const Layout& layout, int rounds) {
  const auto profile = profile_of(kind, bytes);
  std::vector<double> ours;
  std::vector<double> peer;
  std::size_t text_bytes = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    const Planned planned = plan_once(profile, layout);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    ours.push_back(taken.count());
    text_bytes = planned.text_bytes;
    peer.push_back(walk_all(planned.plan));
  }
  std::printf(
      "{\"name\": \"plan-4096-%s-%s\", \"ours\": %.4g, \"peer\": %.4g, \"unit\": \"s\", \"ratio\": "
      "%.3f, \"rounds\": %d, \"peak_rss_mib\": %ld, \"text_bytes\": %zu}\n",
      name, layout.name, median(ours), median(peer), median(peer) / median(ours), rounds,
      peak_rss_mib(), text_bytes);
  std::fflush(stdout);
}

}  // namespace
}  // namespace rehearsal::bench

int main(int argc, char** argv) {
  using namespace rehearsal::bench;
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 3;
  for (const Layout& layout :
       {Layout{"512x8", 512, 8}, Layout{"4096x1", 4096, 1}, Layout{"512-h100", 512, 8, "h100"}}) {
    bench("ring", OpKind::all_reduce, std::uint64_t{1} << 30, layout, rounds);
    bench("all-to-all", OpKind::all_to_all, std::uint64_t{1} << 30, layout, rounds);
  }
}
