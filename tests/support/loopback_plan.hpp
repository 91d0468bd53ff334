#pragma once

#include <memory>
#include <string>

#include "core/base/check.hpp"
#include "core/plan/plan.hpp"
#include "tests/support/sample_plan.hpp"

namespace rehearsal::test {

/// The sample job on `hosts` agents that all sit on 127.0.0.1, with one NIC each.
struct LoopbackPlan {
  std::uint32_t ranks = 4;
  std::uint32_t hosts = 2;
  std::uint32_t iterations = 3;
  plan::SyncMode mode = plan::SyncMode::iteration;
  plan::ReceiveMode receive = plan::ReceiveMode::copy;
  plan::Limits limits = {};
  Duration compute = std::chrono::milliseconds{1};
  std::vector<fault::Fault> faults = {};

  std::shared_ptr<const plan::Plan> make() const {
    profile::Profile profile = sample_profile(ranks);
    profile.classes[0].ops[0].duration = compute;
    auto inventories = sample_inventories(hosts, 1);
    for (plan::Inventory& inventory : inventories) {
      inventory.nics[0].address = "127.0.0.1";
      inventory.shared_nics = true;
    }
    plan::Drill drill = sample_drill(hosts);
    drill.iterations = iterations;
    drill.synchronisation = mode;
    drill.transport.receive = receive;
    drill.limits = limits;
    drill.faults = faults;
    auto plan =
        plan::make_plan(drill, inventories,
                        {{"sample", std::make_shared<const profile::Profile>(std::move(profile))}});
    CHECK(plan.has_value(), "the loopback plan is valid");
    return std::make_shared<const plan::Plan>(std::move(*plan));
  }
};

}  // namespace rehearsal::test
