#include "core/collective/forced.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <vector>

#include "core/base/text.hpp"
#include "core/collective/nccl_2_30.hpp"

namespace rehearsal::collective {
namespace {

using profile::OpKind;

// src/init.cc: ncclFuncStr, ncclAlgoStr, ncclProtoStr.
constexpr std::string_view kFunctions[] = {"Broadcast", "Reduce", "AllGather", "ReduceScatter",
                                           "AllReduce"};
constexpr std::string_view kAlgorithmNames[] = {
    "Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"};
constexpr std::string_view kProtocolNames[] = {"LL", "LL128", "Simple"};
static_assert(std::size(kFunctions) == Forced::kFunctionCount);
static_assert(std::size(kAlgorithmNames) == Forced::kAlgorithmCount);
static_assert(std::size(kProtocolNames) == Forced::kProtocolCount);

constexpr std::size_t kValueBytesMax = 1024;

constexpr std::string_view kNames[] = {
    "NCCL_ALGO",           "NCCL_PROTO",    "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS",
    "NCCL_MIN_CTAS",       "NCCL_MAX_CTAS", "NCCL_NVLS_ENABLE",   "NCCL_PAT_ENABLE",
    "NCCL_COLLNET_ENABLE", "NCCL_BUFFSIZE"};

Failure wrong(std::string_view name, const std::string& what, const std::string& right) {
  return invalid(std::string(name) + ": " + what + "; right is " + right);
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

std::optional<std::size_t> find(std::string_view word, std::span<const std::string_view> words) {
  const auto found = std::find_if(words.begin(), words.end(),
                                  [&](std::string_view each) { return same_word(word, each); });
  if (found == words.end()) return std::nullopt;
  return static_cast<std::size_t>(found - words.begin());
}

// The parts of `text` between separators; empty ones are passed over, as strtok does.
std::vector<std::string_view> parts(std::string_view text, char separator) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) found.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

// src/graph/tuning.cc parseList. Calls set(function, element, on) for every function that an entry
// speaks of and every element.
template <typename Set>
Result<void> read_list(std::string_view name, std::string_view value,
                       std::span<const std::string_view> elements, Set set) {
  const auto entries = parts(value, ';');
  if (entries.empty()) return wrong(name, "is empty", "a list such as " + joined(elements));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t colon = entries[i].find(':');
    std::optional<std::size_t> only;
    std::string_view list = entries[i];
    if (colon != std::string_view::npos) {
      const std::string_view function = list.substr(0, colon);
      list.remove_prefix(colon + 1);
      only = find(function, kFunctions);
      if (!only) {
        return wrong(name, "there is no function " + in_quotes(function), joined(kFunctions));
      }
    } else if (i > 0) {
      return wrong(name, "entry " + in_quotes(list) + " names no function",
                   "a function and a colon in every entry but the first");
    }
    const bool except = list.starts_with('^');
    if (except) list.remove_prefix(1);
    std::vector<bool> on(elements.size(), except);
    const auto words = parts(list, ',');
    if (words.empty()) return wrong(name, "an entry lists nothing", joined(elements));
    for (const std::string_view word : words) {
      const auto element = find(word, elements);
      if (!element) return wrong(name, "there is no " + in_quotes(word), joined(elements));
      on[*element] = !except;
    }
    for (std::size_t function = 0; function < Forced::kFunctionCount; ++function) {
      if (only && *only != function) continue;
      for (std::size_t element = 0; element < elements.size(); ++element) {
        set(function, element, on[element]);
      }
    }
  }
  return {};
}

Result<std::uint64_t> number(std::string_view name, std::string_view value, std::uint64_t least,
                             std::uint64_t most) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (error != std::errc{} || end != value.data() + value.size() || count < least || count > most) {
    return wrong(name, in_quotes(value) + " is no count that fits",
                 std::to_string(least) + " to " + std::to_string(most));
  }
  return count;
}

}  // namespace

std::optional<std::size_t> function_index(OpKind kind) {
  switch (kind) {
    case OpKind::broadcast:
      return 0;
    case OpKind::reduce:
      return 1;
    case OpKind::all_gather:
      return 2;
    case OpKind::reduce_scatter:
      return 3;
    case OpKind::all_reduce:
      return 4;
    default:
      return std::nullopt;
  }
}

Forced::Forced() {
  for (auto& row : algorithms) row.fill(true);
  for (auto& row : protocols) row = {Use::yes, Use::if_safe, Use::yes};
}

bool Forced::algorithm(OpKind kind, Algorithm algorithm) const {
  const auto function = function_index(kind);
  const auto column = static_cast<std::size_t>(algorithm);
  return !function || column >= kAlgorithmCount || algorithms[*function][column];
}

Forced::Use Forced::protocol(OpKind kind, Protocol protocol) const {
  const auto function = function_index(kind);
  return function ? protocols[*function][static_cast<std::size_t>(protocol)] : Use::yes;
}

std::span<const std::string_view> forced_names() { return kNames; }

Result<void> force(Forced& forced, std::string_view name, std::string_view value) {
  if (value.size() > kValueBytesMax) {
    return wrong(name, "is longer than 1 KiB", "a short list");
  }
  if (name == "NCCL_ALGO") {
    Forced next = forced;
    RETURN_IF_ERROR(read_list(name, value, kAlgorithmNames,
                              [&](std::size_t function, std::size_t element, bool on) {
                                next.algorithms[function][element] = on;
                              }));
    forced = next;
    return {};
  }
  if (name == "NCCL_PROTO") {
    Forced next = forced;
    RETURN_IF_ERROR(read_list(
        name, value, kProtocolNames, [&](std::size_t function, std::size_t element, bool on) {
          next.protocols[function][element] = on ? Forced::Use::yes : Forced::Use::no;
        }));
    forced = next;
    return {};
  }
  if (name == "NCCL_MIN_NCHANNELS" || name == "NCCL_MIN_CTAS") {
    ASSIGN_OR_RETURN(const auto count, number(name, value, 1, nccl_2_30::kChannelsMax));
    forced.channels_min = static_cast<std::uint32_t>(count);
    return {};
  }
  if (name == "NCCL_MAX_NCHANNELS" || name == "NCCL_MAX_CTAS") {
    ASSIGN_OR_RETURN(const auto count, number(name, value, 1, nccl_2_30::kChannelsMax));
    forced.channels_max = static_cast<std::uint32_t>(count);
    return {};
  }
  if (name == "NCCL_NVLS_ENABLE") {
    ASSIGN_OR_RETURN(const auto count, number(name, value, 0, 2));
    forced.nvls = count != 0;
    return {};
  }
  if (name == "NCCL_PAT_ENABLE") {
    ASSIGN_OR_RETURN(const auto count, number(name, value, 0, 2));
    forced.pat.reset();
    if (count != 2) forced.pat = count == 1;
    return {};
  }
  if (name == "NCCL_COLLNET_ENABLE") {
    ASSIGN_OR_RETURN(const auto count, number(name, value, 0, 1));
    if (count == 0) return {};
    return fail(ErrorCode::refused, ErrorSource::config,
                "NCCL_COLLNET_ENABLE: CollNet needs a network plugin that reduces in the switches "
                "(SHARP), and there is none here; right is 0");
  }
  if (name == "NCCL_BUFFSIZE") {
    // A step must hold whole grains of every protocol; NCCL's own limit is what memory there is.
    ASSIGN_OR_RETURN(const auto bytes, number(name, value, 64U << 10, 1U << 30));
    forced.buffer = Bytes{bytes / 4096 * 4096};
    return {};
  }
  return wrong(in_quotes(name), "is not known", joined(kNames));
}

}  // namespace rehearsal::collective
