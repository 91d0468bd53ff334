#include "core/fabric/node_text.hpp"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/text.hpp"
#include "core/yaml/yaml.hpp"

namespace rehearsal::fabric {
namespace {

using yaml::Mapping;

constexpr std::size_t kNameBytesMax = 64;

Result<std::string> read_name(const yaml::Node& at) {
  ASSIGN_OR_RETURN(const std::string name, at.text());
  const bool fits =
      name.size() <= kNameBytesMax && name.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789._-:") == std::string::npos;
  if (!fits) {
    return at.wrong("is no name", "expected 1 to 64 letters, digits, '.', '_', '-', ':'");
  }
  return name;
}

template <typename Value, typename Read>
Result<bool> take(const Mapping& mapping, std::string_view key, Value& target, Read read) {
  const auto at = mapping.optional(key);
  if (!at) return false;
  ASSIGN_OR_RETURN(target, std::invoke(read, *at));
  return true;
}

Result<BitRate> read_rate(const yaml::Node& at) {
  ASSIGN_OR_RETURN(const BitRate rate, at.bit_rate());
  if (rate == BitRate{}) return at.wrong("is zero", "expected a rate such as 400Gbit/s");
  return rate;
}

Result<Duration> read_latency(const yaml::Node& at) {
  ASSIGN_OR_RETURN(const Duration latency, at.duration());
  if (latency < Duration{0} || latency > std::chrono::seconds{1}) {
    return at.wrong("is " + format_duration_exact(latency), "expected at most 1s");
  }
  return latency;
}

Result<Node> read_like(const Mapping& mapping) {
  const auto at = mapping.optional("like");
  if (!at) return Node{};
  ASSIGN_OR_RETURN(const std::size_t which, at->one_of_words(usual_nodes()));
  return *usual_node(usual_nodes()[which]);
}

// The generation first: what the file leaves out follows from it.
Result<void> read_generation(const Mapping& mapping, bool like, Node& node) {
  const auto at = mapping.optional("generation");
  if (!at) {
    if (like) return {};
    return mapping.wrong("generation is missing", "expected generation, or like: h100 and its kin");
  }
  ASSIGN_OR_RETURN(const Generation generation,
                   at->one_of({Generation::volta, Generation::ampere, Generation::hopper,
                               Generation::blackwell}));
  if (like && generation == node.generation) return {};
  node.generation = generation;
  const Usual figures = usual(generation);
  node.inside_bandwidth = node.inside == Inside::pcie ? figures.pcie : figures.nvswitch;
  node.pcie = figures.pcie;
  for (Nic& nic : node.nics) nic.rate = figures.nic;
  return {};
}

Result<void> read_inside(const Mapping& mapping, Node& node) {
  const auto at = mapping.optional("inside");
  if (!at) return {};
  ASSIGN_OR_RETURN(const Mapping inside, at->as_mapping({"kind", "bandwidth", "latency"}));
  const Inside before = node.inside;
  RETURN_IF_ERROR(take(inside, "kind", node.inside, [](const yaml::Node& kind) {
    return kind.one_of({Inside::nvswitch, Inside::nvlink, Inside::pcie});
  }));
  if (node.inside != before) {
    const Usual figures = usual(node.generation);
    node.inside_bandwidth = node.inside == Inside::pcie ? node.pcie : figures.nvswitch;
    node.inside_latency = usual_latency(node.inside);
  }
  RETURN_IF_ERROR(take(inside, "bandwidth", node.inside_bandwidth, read_rate));
  RETURN_IF_ERROR(take(inside, "latency", node.inside_latency, read_latency));
  return {};
}

Result<Nic> read_nic(const yaml::Node& at, Generation generation) {
  ASSIGN_OR_RETURN(const Mapping mapping, at.as_mapping({"name", "rate", "latency"}));
  ASSIGN_OR_RETURN(const yaml::Node name, mapping.required("name"));
  Nic nic;
  ASSIGN_OR_RETURN(nic.name, read_name(name));
  nic.rate = usual(generation).nic;
  RETURN_IF_ERROR(take(mapping, "rate", nic.rate, read_rate));
  RETURN_IF_ERROR(take(mapping, "latency", nic.latency, read_latency));
  return nic;
}

Result<std::vector<Nic>> read_nics(const yaml::Node& at, Generation generation) {
  ASSIGN_OR_RETURN(const auto items, at.items());
  if (items.empty() || items.size() > kNicsMax) {
    return at.wrong("lists " + std::to_string(items.size()) + " NICs",
                    "expected 1 to " + std::to_string(kNicsMax));
  }
  std::vector<Nic> nics;
  for (const yaml::Node& item : items) {
    ASSIGN_OR_RETURN(Nic nic, read_nic(item, generation));
    for (const Nic& other : nics) {
      if (other.name == nic.name) {
        return item.wrong("is called " + in_quotes(nic.name) + " as another NIC is",
                          "expected a name of its own");
      }
    }
    nics.push_back(std::move(nic));
  }
  return nics;
}

// The name of its NIC, or {nic: …, path: …}.
Result<Gpu> read_gpu(const yaml::Node& at, const std::vector<Nic>& nics) {
  Gpu gpu;
  yaml::Node named = at;
  if (!at.is_scalar()) {
    ASSIGN_OR_RETURN(const Mapping mapping, at.as_mapping({"nic", "path"}));
    ASSIGN_OR_RETURN(named, mapping.required("nic"));
    RETURN_IF_ERROR(take(mapping, "path", gpu.path, [](const yaml::Node& path) {
      return path.one_of({Path::pix, Path::pxb, Path::p2c, Path::phb, Path::node, Path::sys});
    }));
  }
  ASSIGN_OR_RETURN(const std::string name, named.text());
  for (const Nic& nic : nics) {
    if (nic.name == name) return gpu;
    ++gpu.nic;
  }
  std::vector<std::string> names;
  for (const Nic& nic : nics) names.push_back(nic.name);
  return named.wrong("there is no NIC " + in_quotes(name), "expected one of " + joined(names));
}

Result<void> read_gpus(const Mapping& mapping, Node& node) {
  const auto at = mapping.optional("gpus");
  if (!at) return {};
  ASSIGN_OR_RETURN(const auto items, at->items());
  if (items.empty() || items.size() > kGpusMax) {
    return at->wrong("lists " + std::to_string(items.size()) + " GPUs",
                     "expected 1 to " + std::to_string(kGpusMax));
  }
  node.gpus.clear();
  for (const yaml::Node& item : items) {
    ASSIGN_OR_RETURN(const Gpu gpu, read_gpu(item, node.nics));
    node.gpus.push_back(gpu);
  }
  return {};
}

}  // namespace

Result<Node> read_node_text(std::string_view text, const std::string& name) {
  ASSIGN_OR_RETURN(const yaml::Document document, yaml::parse(text, name));
  ASSIGN_OR_RETURN(const Mapping mapping,
                   document.root().as_mapping(
                       {"node", "like", "generation", "cpu", "inside", "pcie", "nics", "gpus"}));
  ASSIGN_OR_RETURN(const yaml::Node title, mapping.required("node"));
  ASSIGN_OR_RETURN(Node node, read_like(mapping));
  ASSIGN_OR_RETURN(node.name, read_name(title));
  const bool like = mapping.has("like");
  if (!like) node.inside_latency = usual_latency(node.inside);
  RETURN_IF_ERROR(read_generation(mapping, like, node));
  if (!like) {
    const Usual figures = usual(node.generation);
    node.inside_bandwidth = figures.nvswitch;
    node.pcie = figures.pcie;
  }
  RETURN_IF_ERROR(take(mapping, "cpu", node.cpu, [](const yaml::Node& cpu) {
    return cpu.one_of({CpuVendor::intel, CpuVendor::amd, CpuVendor::arm});
  }));
  RETURN_IF_ERROR(take(mapping, "pcie", node.pcie, read_rate));
  RETURN_IF_ERROR(read_inside(mapping, node));
  RETURN_IF_ERROR(take(mapping, "nics", node.nics,
                       [&](const yaml::Node& nics) { return read_nics(nics, node.generation); }));
  if (node.nics.empty())
    return mapping.wrong("nics is missing", "expected a list of NICs, or like: …");
  RETURN_IF_ERROR(read_gpus(mapping, node));
  if (node.gpus.empty()) {
    return mapping.wrong("gpus is missing", "expected a list with the NIC of each GPU, or like: …");
  }
  if (const auto whole = check(node); !whole) return mapping.wrong(whole.error().message, "");
  return node;
}

}  // namespace rehearsal::fabric
