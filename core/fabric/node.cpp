#include "core/fabric/node.hpp"

#include <algorithm>
#include <set>

#include "core/base/check.hpp"
#include "core/base/text.hpp"

namespace rehearsal::fabric {
namespace {

constexpr std::uint64_t kGigabit = 1'000'000'000;
constexpr std::string_view kUsualNodes[] = {"a100", "h100", "h200", "b200"};

template <std::size_t Count>
std::string_view word(const std::string_view (&words)[Count], std::size_t index) {
  CHECK(index < Count, "an enumerator without a name");
  return words[index];
}

Node dgx(std::string_view name, Generation generation, CpuVendor cpu, Path path) {
  constexpr std::uint32_t kGpus = 8;
  const Usual figures = usual(generation);
  Node node;
  node.name = name;
  node.generation = generation;
  node.cpu = cpu;
  node.inside = Inside::nvswitch;
  node.inside_bandwidth = figures.nvswitch;
  node.inside_latency = usual_latency(Inside::nvswitch);
  node.pcie = figures.pcie;
  for (std::uint32_t i = 0; i < kGpus; ++i) {
    node.gpus.push_back({i, path});
    node.nics.push_back({"rail" + std::to_string(i), figures.nic, Duration{0}});
  }
  return node;
}

}  // namespace

std::string_view to_string(Generation generation) {
  constexpr std::string_view kWords[] = {"volta", "ampere", "hopper", "blackwell"};
  return word(kWords, static_cast<std::size_t>(generation));
}

std::string_view to_string(CpuVendor vendor) {
  constexpr std::string_view kWords[] = {"intel", "amd", "arm"};
  return word(kWords, static_cast<std::size_t>(vendor));
}

std::string_view to_string(Inside inside) {
  constexpr std::string_view kWords[] = {"nvswitch", "nvlink", "pcie"};
  return word(kWords, static_cast<std::size_t>(inside));
}

std::string_view to_string(Path path) {
  constexpr std::string_view kWords[] = {"pix", "pxb", "p2c", "phb", "node", "sys"};
  return word(kWords, static_cast<std::size_t>(path));
}

std::vector<std::uint32_t> Node::rails() const {
  std::set<std::uint32_t> used;
  for (const Gpu& gpu : gpus) used.insert(gpu.nic);
  return {used.begin(), used.end()};
}

Usual usual(Generation generation) {
  // NVIDIA's data sheets of V100, A100, H100 and B200 SXM: 6, 12, 18 and 18 NVLinks of 25, 25, 25
  // and 50 GB/s in one direction; PCIe 3.0, 4.0, 5.0, 5.0 with 16 lanes.
  switch (generation) {
    case Generation::volta:
      return {BitRate{200 * kGigabit}, BitRate{1200 * kGigabit}, BitRate{128 * kGigabit},
              BitRate{100 * kGigabit}};
    case Generation::ampere:
      return {BitRate{200 * kGigabit}, BitRate{2400 * kGigabit}, BitRate{256 * kGigabit},
              BitRate{200 * kGigabit}};
    case Generation::hopper:
      return {BitRate{200 * kGigabit}, BitRate{3600 * kGigabit}, BitRate{512 * kGigabit},
              BitRate{400 * kGigabit}};
    case Generation::blackwell:
      return {BitRate{400 * kGigabit}, BitRate{7200 * kGigabit}, BitRate{512 * kGigabit},
              BitRate{400 * kGigabit}};
  }
  CHECK(false, "a generation without figures");
}

Duration usual_latency(Inside inside) {
  return inside == Inside::pcie ? Duration{5'700} : Duration{3'400};
}

std::span<const std::string_view> usual_nodes() { return kUsualNodes; }

std::optional<Node> usual_node(std::string_view name) {
  if (name == "a100") return dgx(name, Generation::ampere, CpuVendor::amd, Path::pxb);
  if (name == "h100") return dgx(name, Generation::hopper, CpuVendor::intel, Path::pix);
  if (name == "h200") return dgx(name, Generation::hopper, CpuVendor::intel, Path::pix);
  if (name == "b200") return dgx(name, Generation::blackwell, CpuVendor::intel, Path::pix);
  return std::nullopt;
}

Result<void> check(const Node& node) {
  const auto wrong = [&](const std::string& what, const std::string& right) {
    return invalid("node " + in_quotes(node.name) + ": " + what + "; expected " + right);
  };
  if (node.gpus.empty() || node.gpus.size() > kGpusMax) {
    return wrong("has " + std::to_string(node.gpus.size()) + " GPUs",
                 "1 to " + std::to_string(kGpusMax));
  }
  if (node.nics.empty() || node.nics.size() > kNicsMax) {
    return wrong("has " + std::to_string(node.nics.size()) + " NICs",
                 "1 to " + std::to_string(kNicsMax));
  }
  std::set<std::string_view> names;
  for (const Nic& nic : node.nics) {
    if (nic.name.empty() || !names.insert(nic.name).second) {
      return wrong("two NICs are called " + in_quotes(nic.name), "a name of its own for each");
    }
    if (nic.rate == BitRate{}) {
      return wrong("NIC " + in_quotes(nic.name) + " has no rate", "its line rate");
    }
  }
  for (std::size_t i = 0; i < node.gpus.size(); ++i) {
    if (node.gpus[i].nic >= node.nics.size()) {
      return wrong(
          "GPU " + std::to_string(i) + " uses NIC number " + std::to_string(node.gpus[i].nic),
          "one of the " + std::to_string(node.nics.size()) + " NICs, counted from 0");
    }
  }
  if (node.inside_bandwidth == BitRate{} || node.pcie == BitRate{}) {
    return wrong("the GPUs have no bandwidth", "rates above zero inside the node and of PCIe");
  }
  return {};
}

}  // namespace rehearsal::fabric
