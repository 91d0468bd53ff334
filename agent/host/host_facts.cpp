#include "agent/host/host_facts.hpp"

#include <linux/capability.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "agent/host/dcb.hpp"
#include "agent/host/device_files.hpp"

namespace rehearsal::agent {
namespace {

namespace fs = std::filesystem;

/// The folder of the hardware behind an interface: its own, or that of the first it stands on
/// (VLAN, bond). Empty: none.
fs::path hardware_of(const fs::path& interface) {
  std::error_code error;
  if (fs::exists(interface / "device", error)) return interface / "device";
  for (const std::string& name : names_in(interface)) {
    if (!name.starts_with("lower_")) continue;
    if (fs::exists(interface / name / "device", error)) return interface / name / "device";
  }
  return {};
}

host::NicPlace place_of(const std::string& nic, const KernelFolders& folders) {
  host::NicPlace place{.nic = nic};
  const fs::path hardware = hardware_of(folders.network / nic);
  if (hardware.empty()) return place;
  const std::string node = first_line(hardware / "numa_node");  // -1 where there are no nodes
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(node.data(), node.data() + node.size(), number);
  if (error == std::errc{} && end == node.data() + node.size() && !node.empty())
    place.numa_node = number;
  if (auto near = host::parse_core_list(first_line(hardware / "local_cpulist")))
    place.near = std::move(*near);
  return place;
}

std::optional<Bytes> lock_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  if (limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  // Who has CAP_IPC_LOCK is under no limit.
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  const bool known = ::syscall(SYS_capget, &header, data) == 0;
  if (known && (data[0].effective >> CAP_IPC_LOCK & 1U) != 0) return std::nullopt;
  return Bytes{limit.rlim_cur};
}

host::ClockFacts clock_facts(const KernelFolders& folders) {
  timex state{};  // modes 0: only asks
  const int status = ::adjtimex(&state);
  return {.source = first_line(folders.system / "clocksource/clocksource0/current_clocksource"),
          .disciplined = status >= 0 && status != TIME_ERROR && (state.status & STA_UNSYNC) == 0,
          .error_max = std::chrono::microseconds{state.maxerror}};
}

/// What files of the vendor's driver (mlx5 of OFED) say: ecn/roce_np/enable/0 … 7.
host::Reading congestion_of(const fs::path& interface) {
  std::error_code error;
  const fs::path folder = interface / "ecn" / "roce_np" / "enable";
  if (!fs::exists(folder, error))
    return {.why_not = "its driver has no " + folder.lexically_relative(interface).string()};
  std::uint8_t mask = 0;
  for (unsigned priority = 0; priority < 8; ++priority) {
    const std::string file = std::to_string(priority);
    if (first_line(folder / file) == "1" &&
        first_line(interface / "ecn" / "roce_rp" / "enable" / file) == "1")
      mask = static_cast<std::uint8_t>(mask | 1U << priority);
  }
  return {.value = priorities_text(mask)};
}

/// "Global tclass=106": OFED's setting for all RoCE traffic of a port.
std::string traffic_class_of(const plan::RdmaPort& port, const KernelFolders& folders) {
  return first_line(folders.rdma / port.device / "tc" / std::to_string(port.port) /
                    "traffic_class");
}

host::LossControl loss_control(const plan::Nic& nic, const KernelFolders& folders) {
  host::LossControl loss;
  loss.congestion = congestion_of(folders.network / nic.name);
  const auto settings = read_dcb(nic.name);
  if (settings) {
    loss.flow_control.value = priorities_text(settings->flow_control);
    loss.dscp.value = dscp_text(*settings);
  } else {
    loss.flow_control.why_not = loss.dscp.why_not = settings.error().message;
  }
  const std::string forced = traffic_class_of(*nic.rdma, folders);
  if (!forced.empty()) {
    loss.dscp.why_not.clear();
    loss.dscp.value += (loss.dscp.value.empty() ? "" : "; ") + forced;
  }
  return loss;
}

host::NicFacts nic_facts(const plan::Nic& nic, host::NicPlace place, const KernelFolders& folders) {
  host::NicFacts facts{.place = std::move(place),
                       .hardware = !hardware_of(folders.network / nic.name).empty()};
  if (!nic.rdma) return facts;
  facts.rdma_port = nic.rdma->device + " port " + std::to_string(nic.rdma->port);
  facts.ethernet = nic.rdma->ethernet;
  if (facts.hardware && facts.ethernet) facts.loss = loss_control(nic, folders);
  return facts;
}

}  // namespace

std::vector<host::NicPlace> find_nic_places(const std::vector<plan::Nic>& nics,
                                            const KernelFolders& folders) {
  std::vector<host::NicPlace> all;  // of the whole host, by name
  for (const std::string& name : names_in(folders.network)) all.push_back(place_of(name, folders));
  std::vector<host::NicPlace> places;
  for (const plan::Nic& nic : nics) {
    host::NicPlace& place = places.emplace_back(place_of(nic.name, folders));
    if (place.near.empty()) continue;
    place.before = static_cast<std::uint32_t>(std::ranges::count_if(
        all, [&](const auto& other) { return other.near == place.near && other.nic < place.nic; }));
  }
  return places;
}

host::Cores allowed_cores() {
  host::Cores cores;
  // A kernel may have more cores than cpu_set_t.
  constexpr std::size_t kSets = host::kCoresMax / CPU_SETSIZE;
  static_assert(kSets * CPU_SETSIZE == host::kCoresMax);
  cpu_set_t sets[kSets] = {};
  if (::sched_getaffinity(0, sizeof sets, sets) != 0) return cores;
  for (std::uint32_t core = 0; core < host::kCoresMax; ++core)
    if (CPU_ISSET_S(core, sizeof sets, sets)) cores.push_back(core);
  return cores;
}

host::Cores isolated_cores(const KernelFolders& folders) {
  return host::parse_core_list(first_line(folders.system / "cpu" / "isolated"))
      .value_or(host::Cores{});
}

host::HostFacts find_host_facts(const plan::Inventory& inventory, const host::CoreWish& wish,
                                const std::string& verbs_missing, const KernelFolders& folders) {
  host::HostFacts facts{.host = inventory.host,
                        .lock_limit = lock_limit(),
                        .verbs_missing = verbs_missing,
                        .rdma_devices = !names_in(folders.rdma).empty(),
                        .clock = clock_facts(folders),
                        .allowed = allowed_cores()};
  std::vector<host::NicPlace> places = find_nic_places(inventory.nics, folders);
  const auto place =
      host::choose_worker_place(wish, places, facts.allowed, isolated_cores(folders), true);
  facts.place = place ? *place : host::WorkerPlace{.why = place.error().message};
  for (std::size_t i = 0; i < inventory.nics.size(); ++i)
    facts.nics.push_back(nic_facts(inventory.nics[i], std::move(places[i]), folders));
  return facts;
}

}  // namespace rehearsal::agent
