#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "agent/host/nics.hpp"
#include "core/host/host_facts.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::agent {

/// Folders of the kernel that are looked into; tests give others.
struct KernelFolders {
  std::filesystem::path network = kNetworkDevices;
  std::filesystem::path rdma = "/sys/class/infiniband";
  std::filesystem::path system = "/sys/devices/system";
};

/// Where each of these NICs stands.
std::vector<host::NicPlace> find_nic_places(const std::vector<plan::Nic>& nics,
                                            const KernelFolders& folders = {});
/// Cores that this process may use; those that the kernel's scheduler keeps off.
host::Cores allowed_cores();
host::Cores isolated_cores(const KernelFolders& folders = {});

/// All that examine() looks at. `verbs_missing`: why there is no RDMA library; empty: there is.
host::HostFacts find_host_facts(const plan::Inventory& inventory, const host::CoreWish& wish,
                                const std::string& verbs_missing,
                                const KernelFolders& folders = {});

}  // namespace rehearsal::agent
