#include "core/host/worker_place.hpp"

#include <algorithm>

namespace rehearsal::host {
namespace {

/// The first of the NICs that most of the NICs are near to.
const NicPlace* most_common(const std::vector<NicPlace>& nics) {
  const NicPlace* best = nullptr;
  std::ptrdiff_t votes = 0;
  for (const NicPlace& nic : nics) {
    if (nic.near.empty()) continue;
    const auto alike = std::ranges::count(nics, nic.near, &NicPlace::near);
    if (alike > votes) {
      best = &nic;
      votes = alike;
    }
  }
  return best;
}

std::string place_text(const NicPlace& nic) {
  std::string text = "near " + nic.nic;
  if (nic.numa_node) text += ", NUMA node " + std::to_string(*nic.numa_node);
  return text;
}

Result<WorkerPlace> named_place(const CoreWish& wish, const Cores& allowed) {
  if (common_cores(wish.cores, allowed) != wish.cores) {
    return fail(ErrorCode::refused, ErrorSource::host,
                "worker_cores: this process may use cores " + core_list_text(allowed) + ", not " +
                    core_list_text(wish.cores) +
                    "; right would be some of these, or another CPUAffinity of the unit");
  }
  return WorkerPlace{.cores = wish.cores, .why = "as configured"};
}

}  // namespace

Result<CoreWish> parse_core_wish(std::string_view text) {
  if (text == "auto") return CoreWish{};
  if (text == "none") return CoreWish{.kind = CoreWish::Kind::none};
  auto cores = parse_core_list(text);
  if (!cores || cores->empty()) {
    return invalid("'" + std::string(text) +
                   "' names no cores; right would be auto, none or a list like 4-7");
  }
  return CoreWish{.kind = CoreWish::Kind::named, .cores = std::move(*cores)};
}

Result<WorkerPlace> choose_worker_place(const CoreWish& wish, const std::vector<NicPlace>& nics,
                                        const Cores& allowed, const Cores& isolated, bool polls) {
  if (wish.kind == CoreWish::Kind::none) return WorkerPlace{.why = "as configured"};
  if (wish.kind == CoreWish::Kind::named) return named_place(wish, allowed);
  const NicPlace* nic = most_common(nics);
  if (nic == nullptr) return WorkerPlace{.why = "no data NIC says which cores are near it"};
  const Cores near = common_cores(nic->near, allowed);
  if (near.empty()) {
    return WorkerPlace{.why = "this process may use none of the cores " +
                              core_list_text(nic->near) + " that are " + place_text(*nic),
                       .hindered = true};
  }
  if (!polls || near.size() == 1) return WorkerPlace{.cores = near, .why = place_text(*nic)};
  const Cores quiet = common_cores(near, isolated);
  const Cores& among = quiet.empty() ? near : quiet;
  const std::size_t from_end = nic->before % among.size();
  return WorkerPlace{.cores = {among[among.size() - 1 - from_end]}, .why = place_text(*nic)};
}

}  // namespace rehearsal::host
