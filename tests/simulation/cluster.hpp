#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/profile/binary.hpp"
#include "core/protocol/parts.hpp"
#include "core/report/summary.hpp"
#include "core/simulation/world.hpp"
#include "tests/support/sample_plan.hpp"

namespace rehearsal::simulation {

using namespace std::chrono_literals;
using protocol::Envelope;

/// host0 … on 10 Gbit/s with 20 µs, clocks seconds apart.
inline WorldOptions cluster(std::uint32_t agents, std::uint64_t seed) {
  WorldOptions options;
  options.seed = seed;
  options.inventories = test::sample_inventories(agents);
  Random random(seed + 1);
  for (std::uint32_t i = 0; i < agents; ++i) {
    options.clock_offsets.push_back(
        Duration{static_cast<std::int64_t>(random.below(20'000'000'000))} - 10s);
  }
  options.fabric = {.latency = 20us,
                    .rate = BitRate{10'000'000'000},
                    .sharing = replay::MemoryFabric::Sharing::nic_pair,
                    .name = "simulated"};
  return options;
}

struct DrillOptions {
  std::uint32_t agents = 2;
  std::uint32_t iterations = 3;
  std::string mode = "iteration";
  std::string more = {};  ///< keys at the top level of the drill
};

inline std::string drill_text(const DrillOptions& options) {
  return "drill: simulated\n"
         "jobs:\n"
         "  - name: sample\n"
         "    profile: sample\n"
         "    hosts: host[0-" +
         std::to_string(options.agents - 1) +
         "]\n"
         "iterations: " +
         std::to_string(options.iterations) + "\nsynchronisation: " + options.mode +
         "\nlimits: {progress: 8s}\n" + options.more;
}

/// An operator who uploads `profile` by this name and asks for a run of `drill`.
inline std::size_t request_run(World& world, const profile::Profile& profile,
                               const std::string& drill, const std::string& name = "sample") {
  const std::size_t person = world.open_operator();
  const std::string bytes = profile::to_binary(profile);
  for (const protocol::Part& part : protocol::parts_of(bytes)) {
    Envelope message;
    message.mutable_profile_part()->set_name(name);
    message.mutable_profile_part()->set_size(part.size);
    message.mutable_profile_part()->set_offset(part.offset);
    message.mutable_profile_part()->set_part(part.bytes.data(), part.bytes.size());
    world.send(person, message);
  }
  Envelope request;
  request.mutable_run_request()->set_drill_text(drill);
  request.mutable_run_request()->set_drill_file("drill.yaml");
  world.send(person, request);
  return person;
}

/// The sample profile, two ranks an agent.
inline std::size_t request_run(World& world, const DrillOptions& options) {
  return request_run(world, test::sample_profile(2 * options.agents), drill_text(options));
}

/// The last message of a kind that an operator was told; null: none.
inline const Envelope* last_told(const World& world, std::size_t person,
                                 Envelope::MessageCase kind) {
  const Envelope* last = nullptr;
  for (const Envelope& message : world.told(person)) {
    if (message.message_case() == kind) last = &message;
  }
  return last;
}

/// How a run ended for its operator; null: it has not.
inline const protocol::RunFinished* finished(const World& world, std::size_t person) {
  const Envelope* message = last_told(world, person, Envelope::kRunFinished);
  return message ? &message->run_finished() : nullptr;
}

inline bool all_joined(const World& world) {
  if (!world.has_coordinator() || world.coordinator().agents != world.agents()) return false;
  for (std::size_t i = 0; i < world.agents(); ++i) {
    if (!world.agent(i).joined) return false;
  }
  return true;
}

inline std::string stored_file(const World& world, const std::string& name) {
  for (const coordination::RunFile& file : world.stored().back().files) {
    if (file.name == name) return file.content;
  }
  return {};
}

/// The end of the log, for failures.
inline std::string log_tail(const World& world) {
  std::string text;
  const std::size_t from = world.log().size() > 40 ? world.log().size() - 40 : 0;
  for (std::size_t i = from; i < world.log().size(); ++i) text += world.log()[i] + "\n";
  return text;
}

/// What is reported of a run that ends within `patience`; of one that does not, nothing, and a
/// failure.
inline report::Summary live_through(World& world, const profile::Profile& profile,
                                    const std::string& drill, const std::string& name = "sample",
                                    Duration patience = 60s) {
  EXPECT_TRUE(world.run_until([&] { return all_joined(world); }, 10s));
  world.run_for(2s);
  const std::size_t person = request_run(world, profile, drill, name);
  const bool ended = world.run_until(
      [&] {
        return finished(world, person) != nullptr ||
               last_told(world, person, Envelope::kFailure) != nullptr;
      },
      patience);
  EXPECT_TRUE(ended) << log_tail(world);
  if (const Envelope* failure = last_told(world, person, Envelope::kFailure))
    ADD_FAILURE() << failure->DebugString();
  if (finished(world, person) == nullptr) return {};
  const auto summary = report::read_summary(stored_file(world, "summary.json"));
  EXPECT_TRUE(summary.has_value());
  return summary.value_or(report::Summary{});
}

}  // namespace rehearsal::simulation
