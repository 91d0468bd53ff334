#include "core/fabric/smi_topology.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/text.hpp"
#include "core/fabric/nearest_nic.hpp"
#include "core/fabric/read.hpp"

namespace rehearsal::fabric {
namespace {

// A GPU has no more NVLinks: NVLink 4 and 5.
constexpr std::uint32_t kLinksMax = 18;

struct Line {
  std::size_t number = 1;
  std::vector<std::string_view> words;
};

// The lines that hold something, as words. The header's underlining (ESC [ … m) is left out.
std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    std::vector<std::string_view> words;
    for (std::size_t i = 0; i < line.size();) {
      if (line[i] == '\x1b') {
        i = std::min(line.find('m', i), line.size() - 1) + 1;
      } else if (line[i] == ' ' || line[i] == '\t' || line[i] == '\r') {
        ++i;
      } else {
        const std::size_t stop = std::min(line.find_first_of(" \t\r\x1b", i), line.size());
        words.push_back(line.substr(i, stop - i));
        i = stop;
      }
    }
    if (!words.empty()) lines.push_back({number, std::move(words)});
  }
  return lines;
}

std::optional<std::uint32_t> count_after(std::string_view word, std::string_view prefix) {
  if (!word.starts_with(prefix)) return std::nullopt;
  word.remove_prefix(prefix.size());
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

bool is_header(const Line& line) {
  return line.words.front() == "GPU0" && (line.words.size() == 1 || line.words[1] != "X");
}

std::optional<std::size_t> header_of(const std::vector<Line>& lines) {
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    const Line& below = lines[i + 1];
    if (is_header(lines[i]) && below.words.size() > 1 && below.words[0] == "GPU0" &&
        below.words[1] == "X") {
      return i;
    }
  }
  return std::nullopt;
}

std::optional<Path> path_of(std::string_view word) {
  for (const auto& [name, path] :
       {std::pair{"PIX", Path::pix}, std::pair{"PXB", Path::pxb}, std::pair{"PHB", Path::phb},
        std::pair{"NODE", Path::node}, std::pair{"SYS", Path::sys}, std::pair{"SOC", Path::sys}}) {
    if (word == name) return path;
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : lines_(lines_of(text)), name_(name) {}

  Result<Node> read() {
    const auto header = header_of(lines_);
    if (!header) {
      return invalid(name_ +
                     ": holds no matrix of nvidia-smi topo -m; expected a line \"GPU0 GPU1 …\" "
                     "and below it \"GPU0 X …\"");
    }
    RETURN_IF_ERROR(read_header(lines_[*header]));
    std::size_t row = 0;
    for (; row < devices_.size() && *header + 1 + row < lines_.size(); ++row) {
      const Line& line = lines_[*header + 1 + row];
      if (line.words[0] != devices_[row]) break;
      RETURN_IF_ERROR(read_row(line, row));
    }
    if (row < gpus_) {
      return wrong(lines_[std::min(*header + 1 + row, lines_.size() - 1)],
                   "the matrix ends before " + std::string(devices_[row]),
                   "a row for each GPU of its head");
    }
    read_legend(*header + 1 + row);
    return finish(lines_[*header]);
  }

 private:
  Failure wrong(const Line& line, const std::string& what, const std::string& right) const {
    return invalid(name_ + ":" + std::to_string(line.number) + ": " + what + "; expected " + right);
  }

  // "GPU0 … NIC0 … CPU Affinity NUMA Affinity"; older ones name NICs mlx5_0.
  Result<void> read_header(const Line& line) {
    for (const std::string_view word : line.words) {
      if (word == "CPU" || word == "NUMA" || word == "GPU") break;
      const auto gpu = count_after(word, "GPU");
      if (gpu) {
        if (*gpu != gpus_ || gpus_ != devices_.size()) {
          return wrong(line, in_quotes(word) + " is out of turn", "GPU0, GPU1 … and then the NICs");
        }
        ++gpus_;
      } else {
        nics_.emplace_back(word);
      }
      devices_.push_back(word);
    }
    if (gpus_ > kGpusMax || nics_.size() > kNicsMax) {
      return wrong(line, "too many GPUs or NICs",
                   "at most " + std::to_string(kGpusMax) + " and " + std::to_string(kNicsMax));
    }
    if (nics_.empty()) return wrong(line, "no NIC stands beside the GPUs", "NIC0, or mlx5_0, …");
    return {};
  }

  Result<void> read_row(const Line& line, std::size_t row) {
    if (line.words.size() < 1 + devices_.size()) {
      return wrong(line, std::to_string(line.words.size() - 1) + " entries",
                   std::to_string(devices_.size()) + ", as the head has");
    }
    std::vector<Path> paths;
    for (std::size_t column = 0; column < devices_.size(); ++column) {
      const std::string_view word = line.words[1 + column];
      const auto links = count_after(word, "NV");
      const auto path = path_of(word);
      const bool itself = word == "X";
      if (itself != (row == column) || (!itself && !links && !path) ||
          (links && (*links == 0 || *links > kLinksMax))) {
        return wrong(line, in_quotes(word) + " under " + std::string(devices_[column]),
                     row == column ? "X" : "NV1 to NV18, PIX, PXB, PHB, NODE or SYS");
      }
      if (row >= gpus_ || itself) continue;
      if (column < gpus_) {
        pairs_.push_back(links.value_or(0));
      } else if (path) {
        paths.push_back(*path);
      } else {
        return wrong(line, in_quotes(word) + " between a GPU and a NIC",
                     "PIX, PXB, PHB, NODE or SYS");
      }
    }
    if (row < gpus_) node_.gpus.push_back(nearest_nic(static_cast<std::uint32_t>(row), paths));
    return {};
  }

  // "NIC0: mlx5_0"
  void read_legend(std::size_t from) {
    for (std::size_t i = from; i < lines_.size(); ++i) {
      const auto& words = lines_[i].words;
      if (words.size() != 2 || !words[0].ends_with(':')) continue;
      const std::string_view label = words[0].substr(0, words[0].size() - 1);
      for (std::string& nic : nics_) {
        if (nic == label) nic = words[1];
      }
    }
  }

  Result<Node> finish(const Line& header) {
    node_.name = name_;
    take_links();
    const Usual figures = usual(node_.generation);
    node_.assumed = {"generation: " + std::string(to_string(node_.generation)), "cpu: intel",
                     "pcie: " + format_bit_rate_exact(figures.pcie),
                     "rate of NICs: " + format_bit_rate_exact(figures.nic)};
    node_.cpu = CpuVendor::intel;
    node_.pcie = figures.pcie;
    if (node_.inside == Inside::pcie) node_.inside_bandwidth = figures.pcie;
    for (const std::string& nic : nics_) node_.nics.push_back({nic, figures.nic, Duration{0}});
    node_.inside_latency = usual_latency(node_.inside);
    if (const auto whole = check(node_); !whole) {
      return wrong(header, whole.error().message, "names that differ");
    }
    return std::move(node_);
  }

  // The NVLinks of a GPU: to a switch it has as many to every other GPU, and all of them at once.
  void take_links() {
    const auto most = pairs_.empty() ? 0U : *std::max_element(pairs_.begin(), pairs_.end());
    const auto least = pairs_.empty() ? 0U : *std::min_element(pairs_.begin(), pairs_.end());
    std::uint32_t links = 0;
    if (least > 0 && least == most && least * (gpus_ - 1) > kLinksMax) {
      node_.inside = Inside::nvswitch;
      links = least;
    } else if (most > 0) {
      node_.inside = Inside::nvlink;
      links = UINT32_MAX;
      for (std::size_t gpu = 0; gpu < gpus_; ++gpu) {
        std::uint32_t sum = 0;
        for (std::size_t other = 0; other + 1 < gpus_; ++other) {
          sum += pairs_[gpu * (gpus_ - 1) + other];
        }
        links = std::min(links, sum);
      }
    }
    node_.generation = links == 0    ? Generation::ampere
                       : links <= 6  ? Generation::volta
                       : links <= 12 ? Generation::ampere
                                     : Generation::hopper;
    if (links == 0) {  // PCIe alone, or a GPU without a link
      node_.inside = Inside::pcie;
      return;
    }
    node_.inside_bandwidth =
        BitRate{usual(node_.generation).nvlink_of_link.bits_per_second() * links};
  }

  std::vector<Line> lines_;
  const std::string& name_;
  std::size_t gpus_ = 0;
  std::vector<std::string_view> devices_;
  std::vector<std::string> nics_;
  std::vector<std::uint32_t> pairs_;  // NVLinks between a GPU and each other one, row by row
  Node node_;
};

}  // namespace

bool is_smi_topology(std::string_view text) {
  return text.size() <= kNodeBytesMax && header_of(lines_of(text)).has_value();
}

Result<Node> read_smi_topology(std::string_view text, const std::string& name) {
  if (text.size() > kNodeBytesMax) {
    return fail(ErrorCode::too_large, ErrorSource::config, name + ": is over 1 MiB");
  }
  return Reader(text, name).read();
}

}  // namespace rehearsal::fabric
