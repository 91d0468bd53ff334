#include "core/fabric/nccl_topology.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <utility>
#include <vector>

#include "core/base/text.hpp"
#include "core/fabric/nearest_nic.hpp"
#include "core/fabric/read.hpp"

namespace rehearsal::fabric {
namespace {

constexpr unsigned kDepthMax = 32;
constexpr std::uint32_t kNvidia = 0x10de;
constexpr std::uint32_t kBroadcom = 0x1000;

// PCI classes, without the programming interface.
constexpr std::uint32_t kBridge = 0x0604;
constexpr std::uint32_t kNetworkBase = 0x02;
constexpr std::uint32_t kDisplayBase = 0x03;
constexpr std::uint32_t kNvswitch = 0x0680;

// Where something hangs: its CPU and the switches on the way down to it.
struct Place {
  std::size_t cpu = 0;
  std::vector<std::size_t> switches;
};

struct FoundGpu {
  Place place;
  std::uint32_t number = 0;
  std::optional<Generation> generation;
  std::uint32_t links_to_switches = 0;
  std::uint32_t links_to_gpus = 0;
  std::uint64_t pcie_bits = 0;
};

struct FoundNic {
  Place place;
  std::uint32_t number = 0;
  Nic nic;
};

// A switch that may be shown as two levels though it is one.
struct Switch {
  std::uint32_t vendor = 0;
  std::uint32_t device = 0;
  std::uint32_t subsystem_vendor = 0;
  std::uint32_t subsystem_device = 0;

  // Broadcom's PEX switches of PCIe 4 and 5 (nccl src/graph/topo.cc getBcmGen): their generation,
  // or 0.
  int broadcom(std::uint32_t level) const {
    if (vendor != kBroadcom) return 0;
    const std::uint32_t kind = subsystem_device & 0xf000U;
    if (device == 0xc010 && subsystem_vendor == 0x1000 && kind == 0xa000) return 4;
    if (device == 0xc030 && subsystem_vendor == 0x1000 && kind == level * 0x1000) return 5;
    return 0;
  }
};

Path path_between(const Place& a, const Place& b) {
  if (a.cpu != b.cpu) return Path::sys;
  const auto [in_a, in_b] =
      std::mismatch(a.switches.begin(), a.switches.end(), b.switches.begin(), b.switches.end());
  if (in_a == a.switches.begin()) return Path::phb;
  const bool same = in_a == a.switches.end() && in_b == b.switches.end();
  return same ? Path::pix : Path::pxb;
}

std::optional<Generation> generation_of(std::uint32_t compute_capability) {
  if (compute_capability >= 100) return Generation::blackwell;
  if (compute_capability >= 90) return Generation::hopper;
  if (compute_capability >= 80) return Generation::ampere;
  if (compute_capability >= 70) return Generation::volta;
  return std::nullopt;
}

// By the chip of NVIDIA's data centre GPUs (PCI ids: GV100 1dxx, GA100 20xx, GH100 23xx, GB100
// 29xx, GB300 31xx).
std::optional<Generation> generation_of_device(std::uint32_t device) {
  switch (device >> 8) {
    case 0x1d:
      return Generation::volta;
    case 0x20:
      return Generation::ampere;
    case 0x23:
      return Generation::hopper;
    case 0x29:
    case 0x31:
      return Generation::blackwell;
    default:
      return std::nullopt;
  }
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Result<Node> read() {
    pugi::xml_document document;
    const pugi::xml_parse_result parsed =
        document.load_buffer(text_.data(), text_.size(), pugi::parse_default, pugi::encoding_utf8);
    if (!parsed) {
      return wrong_at(parsed.offset, "is not valid XML: " + std::string(parsed.description()),
                      "an NCCL topology");
    }
    const pugi::xml_node system = document.child("system");
    if (!system) {
      return wrong(document.document_element(), "is no NCCL topology", "<system> at the top");
    }
    std::size_t cpus = 0;
    for (const pugi::xml_node cpu : system.children("cpu")) {
      RETURN_IF_ERROR(read_cpu(cpu, cpus++));
    }
    if (cpus == 0) return wrong(system, "holds no <cpu>", "a <cpu> with the PCI devices below it");
    return finish(system);
  }

 private:
  Failure wrong_at(std::ptrdiff_t offset, const std::string& what, const std::string& right) const {
    const auto end =
        std::clamp<std::ptrdiff_t>(offset, 0, static_cast<std::ptrdiff_t>(text_.size()));
    const auto line = 1 + std::count(text_.begin(), text_.begin() + end, '\n');
    return invalid(name_ + ":" + std::to_string(line) + ": " + what + "; expected " + right);
  }

  Failure wrong(const pugi::xml_node& at, const std::string& what, const std::string& right) const {
    const std::string element = at ? "<" + std::string(at.name()) + "> " : "";
    return wrong_at(at ? at.offset_debug() : 0, element + what, right);
  }

  // A whole number, decimal or 0x…; none if the attribute is not there.
  Result<std::optional<std::uint32_t>> number(const pugi::xml_node& at, const char* key,
                                              std::uint32_t most) const {
    const pugi::xml_attribute attribute = at.attribute(key);
    if (!attribute) return std::optional<std::uint32_t>{};
    std::string_view text = attribute.value();
    const bool hexadecimal = text.starts_with("0x");
    if (hexadecimal) text.remove_prefix(2);
    std::uint32_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
    if (error != std::errc{} || end != text.data() + text.size() || value > most) {
      return wrong(at, std::string(key) + "=" + in_quotes(attribute.value()) + " is no number here",
                   "a whole number up to " + std::to_string(most));
    }
    return std::optional<std::uint32_t>{value};
  }

  Result<std::uint32_t> needed(const pugi::xml_node& at, const char* key,
                               std::uint32_t most) const {
    ASSIGN_OR_RETURN(const auto value, number(at, key, most));
    if (!value) return wrong(at, "has no " + std::string(key), std::string(key) + "=\"…\"");
    return *value;
  }

  Result<void> read_cpu(const pugi::xml_node& cpu, std::size_t index) {
    if (!vendor_) {
      const std::string_view arch = cpu.attribute("arch").value();
      const std::string_view vendor = cpu.attribute("vendor").value();
      if (arch == "arm64" || arch == "aarch64") {
        vendor_ = CpuVendor::arm;
      } else if (vendor == "AuthenticAMD" || vendor == "HygonGenuine") {
        vendor_ = CpuVendor::amd;
      } else if (vendor == "GenuineIntel") {
        vendor_ = CpuVendor::intel;
      }
    }
    const Place place = {index, {}};
    for (const pugi::xml_node nic : cpu.children("nic")) RETURN_IF_ERROR(read_nic(nic, place));
    for (const pugi::xml_node pci : cpu.children("pci")) {
      RETURN_IF_ERROR(read_pci(pci, place, nullptr, 1));
    }
    return {};
  }

  Result<void> read_pci(const pugi::xml_node& pci, const Place& place, const Switch* above,
                        unsigned depth) {
    if (depth > kDepthMax) {
      return wrong(pci, "is nested too deep", "at most " + std::to_string(kDepthMax) + " levels");
    }
    ASSIGN_OR_RETURN(const auto code, number(pci, "class", 0xffffff));
    const std::uint32_t kind = code.value_or(0) >> 8;
    for (const pugi::xml_node nic : pci.children("nic")) RETURN_IF_ERROR(read_nic(nic, place));
    for (const pugi::xml_node gpu : pci.children("gpu")) {
      RETURN_IF_ERROR(read_gpu(gpu, pci, place));
    }
    if (pci.child("nic") || pci.child("gpu")) return {};
    const bool holds = static_cast<bool>(pci.child("pci"));
    if (kind == kBridge || holds) return read_switch(pci, place, above, depth);
    if (kind >> 8 == kDisplayBase) return read_bare_gpu(pci, place);
    if (kind >> 8 == kNetworkBase) return read_bare_nic(pci, place);
    return {};
  }

  Result<void> read_switch(const pugi::xml_node& pci, Place place, const Switch* above,
                           unsigned depth) {
    Switch found;
    for (const auto& [key, target] :
         {std::pair{"vendor", &found.vendor}, std::pair{"device", &found.device},
          std::pair{"subsystem_vendor", &found.subsystem_vendor},
          std::pair{"subsystem_device", &found.subsystem_device}}) {
      ASSIGN_OR_RETURN(const auto value, number(pci, key, 0xffff));
      *target = value.value_or(0);
    }
    // The second level of one and the same switch is no step further.
    const bool same =
        above != nullptr && above->broadcom(0) != 0 && above->broadcom(0) == found.broadcom(1);
    if (!same) place.switches.push_back(switches_++);
    for (const pugi::xml_node below : pci.children("pci")) {
      RETURN_IF_ERROR(read_pci(below, place, same ? nullptr : &found, depth + 1));
    }
    return {};
  }

  Result<void> read_gpu(const pugi::xml_node& gpu, const pugi::xml_node& pci, const Place& place) {
    if (gpu.attribute("gcn")) {
      foreign_ = gpu;
      ++foreign_gpus_;
      return {};
    }
    FoundGpu found;
    found.place = place;
    ASSIGN_OR_RETURN(found.number, needed(gpu, "dev", 1023));
    ASSIGN_OR_RETURN(const std::uint32_t capability, needed(gpu, "sm", 999));
    found.generation = generation_of(capability);
    if (!found.generation) {
      return wrong(gpu, "has sm=\"" + std::to_string(capability) + "\"",
                   "70 or more (Volta and later)");
    }
    for (const pugi::xml_node link : gpu.children("nvlink")) {
      ASSIGN_OR_RETURN(const std::uint32_t count, needed(link, "count", 64));
      ASSIGN_OR_RETURN(const std::uint32_t target, needed(link, "tclass", 0xffffff));
      (target >> 8 == kNvswitch ? found.links_to_switches : found.links_to_gpus) += count;
    }
    return add_gpu(gpu, pci, std::move(found));
  }

  Result<void> read_bare_gpu(const pugi::xml_node& pci, const Place& place) {
    ASSIGN_OR_RETURN(const auto vendor, number(pci, "vendor", 0xffff));
    if (vendor != kNvidia) return {};  // the display of a management controller, for one
    FoundGpu found;
    found.place = place;
    found.number = static_cast<std::uint32_t>(gpus_.size());
    ASSIGN_OR_RETURN(const std::uint32_t device, needed(pci, "device", 0xffff));
    found.generation = generation_of_device(device);
    return add_gpu(pci, pci, std::move(found));
  }

  Result<void> add_gpu(const pugi::xml_node& at, const pugi::xml_node& pci, FoundGpu found) {
    if (gpus_.size() == kGpusMax) {
      return wrong(at, "is one GPU too many", "at most " + std::to_string(kGpusMax));
    }
    for (const FoundGpu& other : gpus_) {
      if (other.number == found.number) {
        return wrong(at, "has dev=\"" + std::to_string(found.number) + "\" as another has",
                     "a number of its own");
      }
    }
    ASSIGN_OR_RETURN(found.pcie_bits, pcie(pci));
    gpus_.push_back(std::move(found));
    return {};
  }

  // Bits a second of "16.0 GT/s PCIe" × 16 lanes; 0 where the system did not know it.
  Result<std::uint64_t> pcie(const pugi::xml_node& pci) const {
    const std::string_view text = pci.attribute("link_speed").value();
    ASSIGN_OR_RETURN(const auto width, number(pci, "link_width", 32));
    double speed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), speed);
    if (error != std::errc{} || !width || !(speed > 0 && speed < 1000)) return std::uint64_t{0};
    return static_cast<std::uint64_t>(std::llround(speed * 1e9)) * *width;
  }

  Result<void> read_nic(const pugi::xml_node& nic, const Place& place) {
    for (const pugi::xml_node net : nic.children("net")) {
      FoundNic found;
      found.place = place;
      ASSIGN_OR_RETURN(const auto index, number(net, "dev", 1023));
      found.number = index.value_or(static_cast<std::uint32_t>(nics_.size()));
      found.nic.name = net.attribute("name").value();
      if (found.nic.name.empty()) return wrong(net, "has no name", "name=\"…\"");
      ASSIGN_OR_RETURN(const auto megabits, number(net, "speed", 100'000'000));
      found.nic.rate = BitRate{std::uint64_t{megabits.value_or(0)} * 1'000'000};
      ASSIGN_OR_RETURN(found.nic.latency, latency(net));
      RETURN_IF_ERROR(add_nic(net, std::move(found)));
    }
    return {};
  }

  Result<Duration> latency(const pugi::xml_node& net) const {
    const std::string_view text = net.attribute("latency").value();
    if (text.empty()) return Duration{0};
    double micros = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), micros);
    if (error != std::errc{} || end != text.data() + text.size() ||
        !(micros >= 0 && micros < 1e6)) {
      return wrong(net, "latency=" + in_quotes(text) + " is no time",
                   "microseconds below a second");
    }
    return Duration{std::llround(micros * 1000)};
  }

  Result<void> read_bare_nic(const pugi::xml_node& pci, const Place& place) {
    FoundNic found;
    found.place = place;
    found.number = static_cast<std::uint32_t>(nics_.size());
    found.nic.name = pci.attribute("busid").value();
    if (found.nic.name.empty()) return wrong(pci, "has no busid", "busid=\"…\"");
    return add_nic(pci, std::move(found));
  }

  Result<void> add_nic(const pugi::xml_node& at, FoundNic found) {
    if (nics_.size() == kNicsMax) {
      return wrong(at, "is one NIC too many", "at most " + std::to_string(kNicsMax));
    }
    nics_.push_back(std::move(found));
    return {};
  }

  Result<Node> finish(const pugi::xml_node& system) {
    if (foreign_) {
      return fail(
          ErrorCode::unsupported, ErrorSource::config,
          name_ + ": <gpu> gcn=" + in_quotes(foreign_.attribute("gcn").value()) + ": " +
              std::to_string(foreign_gpus_) + " GPUs of AMD and " + std::to_string(nics_.size()) +
              " NICs were found, but only nodes of NVIDIA GPUs have a model of costs here; "
              "expected an NCCL topology, or a node described in YAML with what it is like");
    }
    if (gpus_.empty()) return wrong(system, "holds no GPU", "a <gpu>, or a <pci> of NVIDIA's");
    if (nics_.empty())
      return wrong(system, "holds no NIC", "a <nic> with a <net>, or a <pci> of one");
    const auto by_number = [](const auto& a, const auto& b) { return a.number < b.number; };
    std::stable_sort(gpus_.begin(), gpus_.end(), by_number);
    std::stable_sort(nics_.begin(), nics_.end(), by_number);
    Node node;
    node.name = name_;
    RETURN_IF_ERROR(take_generation(system, node));
    if (!vendor_) node.assumed.push_back("cpu: intel");
    node.cpu = vendor_.value_or(CpuVendor::intel);
    take_nics(node);
    take_inside(node);
    for (const FoundGpu& gpu : gpus_) {
      std::vector<Path> paths;
      for (const FoundNic& nic : nics_) paths.push_back(path_between(gpu.place, nic.place));
      node.gpus.push_back(nearest_nic(gpu.number, paths));
    }
    RETURN_IF_ERROR(check(node));
    return node;
  }

  Result<void> take_generation(const pugi::xml_node& system, Node& node) const {
    std::optional<Generation> oldest;
    for (const FoundGpu& gpu : gpus_) {
      if (!gpu.generation) {
        return wrong(system, "does not say what GPU " + std::to_string(gpu.number) + " is",
                     "<gpu sm=\"…\">, or the device id of a V100, A100, H100, H200, B200 or B300");
      }
      // As NCCL does, by the oldest of them.
      if (!oldest || *gpu.generation < *oldest) oldest = gpu.generation;
    }
    node.generation = *oldest;
    return {};
  }

  void take_nics(Node& node) const {
    std::set<std::string> names;
    for (const FoundNic& found : nics_) {
      Nic nic = found.nic;
      if (nic.rate == BitRate{}) {
        nic.rate = usual(node.generation).nic;
        node.assumed.push_back("rate of NIC " + nic.name + ": " + format_bit_rate_exact(nic.rate));
      }
      // Two ports of a NIC may be given one name.
      const std::string plain = nic.name;
      for (int port = 2; !names.insert(nic.name).second; ++port) {
        nic.name = plain + ":" + std::to_string(port);
      }
      node.nics.push_back(std::move(nic));
    }
  }

  void take_inside(Node& node) const {
    std::uint32_t to_switches = UINT32_MAX;
    std::uint32_t to_gpus = UINT32_MAX;
    std::uint64_t pcie_bits = UINT64_MAX;
    bool says_links = false;
    for (const FoundGpu& gpu : gpus_) {
      to_switches = std::min(to_switches, gpu.links_to_switches);
      to_gpus = std::min(to_gpus, gpu.links_to_gpus);
      pcie_bits = std::min(pcie_bits, gpu.pcie_bits);
      says_links = says_links || gpu.links_to_switches + gpu.links_to_gpus > 0;
    }
    const Usual figures = usual(node.generation);
    node.pcie = BitRate{pcie_bits};
    if (pcie_bits == 0) {
      node.pcie = figures.pcie;
      node.assumed.push_back("pcie: " + format_bit_rate_exact(node.pcie));
    }
    const auto times = [&](std::uint32_t links) {
      return BitRate{figures.nvlink_of_link.bits_per_second() * links};
    };
    if (to_switches > 0) {
      node.inside = Inside::nvswitch;
      node.inside_bandwidth = times(to_switches);
    } else if (to_gpus > 0) {
      node.inside = Inside::nvlink;
      node.inside_bandwidth = times(to_gpus);
    } else if (!says_links && gpus_.size() > 1 && node.generation != Generation::volta) {
      // A file for NCCL_TOPO_FILE leaves NVLink to NCCL to find.
      node.inside = Inside::nvswitch;
      node.inside_bandwidth = figures.nvswitch;
      node.assumed.push_back("inside: nvswitch with " +
                             format_bit_rate_exact(node.inside_bandwidth));
    } else {
      node.inside = Inside::pcie;
      node.inside_bandwidth = node.pcie;
    }
    node.inside_latency = usual_latency(node.inside);
  }

  std::string_view text_;
  const std::string& name_;
  std::optional<CpuVendor> vendor_;
  std::size_t switches_ = 0;
  std::vector<FoundGpu> gpus_;
  std::vector<FoundNic> nics_;
  pugi::xml_node foreign_;
  std::size_t foreign_gpus_ = 0;
};

}  // namespace

Result<Node> read_nccl_topology(std::string_view text, const std::string& name) {
  if (text.size() > kNodeBytesMax) {
    return fail(ErrorCode::too_large, ErrorSource::config, name + ": is over 1 MiB");
  }
  return Reader(text, name).read();
}

}  // namespace rehearsal::fabric
