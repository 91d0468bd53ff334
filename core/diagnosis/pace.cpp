#include "core/diagnosis/pace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/base/check.hpp"

namespace rehearsal::diagnosis {
namespace {

struct Constants {
  double bytes_of_message = 0;
  double share = 0;
};

constexpr std::array kBytesOfMessage = {0.0, 4096.0, 16384.0, 65536.0, 262144.0, 1048576.0};
constexpr std::array kShares = {0.0, 0.5, 1.0};
// Constants that explain hardly more than plain bytes are not believed.
constexpr double kGain = 0.8;
// Flows of a kind that can be compared among themselves.
constexpr std::size_t kKindMin = 3;
// Of three flows of a kind one NIC may be an end of two: the usual one is not the middle one.
constexpr double kUsual = 0.4;

Passage sum_of(const Flow& flow, std::span<const std::size_t> windows) {
  Passage sum;
  for (const std::size_t window : windows) {
    const Passage& passage = flow.windows[window];
    sum.messages += passage.messages;
    sum.bytes += passage.bytes;
    sum.exposed = saturated_sum(sum.exposed, passage.exposed);
  }
  return sum;
}

std::vector<Passage> sums(const Observations& observations, std::span<const std::size_t> windows) {
  std::vector<Passage> result;
  for (const Flow& flow : observations.flows) result.push_back(sum_of(flow, windows));
  return result;
}

// Bytes of the busier of a flow's two NICs, in the direction of the flow.
std::vector<double> loads(const Observations& observations, const std::vector<Passage>& passages) {
  std::vector<double> sent(observations.host_of_nic.size());
  std::vector<double> received(observations.host_of_nic.size());
  for (std::size_t i = 0; i < passages.size(); ++i) {
    sent[observations.flows[i].source] += passages[i].bytes;
    received[observations.flows[i].destination] += passages[i].bytes;
  }
  std::vector<double> result;
  for (const Flow& flow : observations.flows) {
    result.push_back(std::max(sent[flow.source], received[flow.destination]));
  }
  return result;
}

std::vector<std::optional<double>> paces_with(const Constants& constants,
                                              const std::vector<Passage>& passages,
                                              const std::vector<double>& loads) {
  std::vector<std::optional<double>> result(passages.size());
  for (std::size_t i = 0; i < passages.size(); ++i) {
    const Passage& passage = passages[i];
    if (passage.messages == 0 || passage.exposed <= Duration::zero()) continue;
    const double due = passage.bytes +
                       constants.bytes_of_message * static_cast<double>(passage.messages) +
                       constants.share * (loads[i] - passage.bytes);
    if (due <= 0) continue;
    result[i] = std::log(static_cast<double>(passage.exposed.count()) / due);
  }
  return result;
}

// Less what is usual for the kind, or of all flows where a kind has hardly any.
void compare_within_kinds(const Observations& observations,
                          std::vector<std::optional<double>>& paces) {
  std::map<std::uint32_t, std::vector<double>> kinds;
  std::vector<double> all;
  for (std::size_t i = 0; i < paces.size(); ++i) {
    if (!paces[i]) continue;
    kinds[observations.flows[i].kind].push_back(*paces[i]);
    all.push_back(*paces[i]);
  }
  if (all.empty()) return;
  const double of_all = quantile(all, kUsual);
  std::map<std::uint32_t, double> usual;
  for (auto& [kind, known] : kinds) {
    usual[kind] = known.size() < kKindMin ? of_all : quantile(known, kUsual);
  }
  for (std::size_t i = 0; i < paces.size(); ++i) {
    if (paces[i]) *paces[i] -= usual[observations.flows[i].kind];
  }
}

// How far apart flows are; those whose way is hidden for most of the time say nothing.
double spread(const std::vector<std::optional<double>>& paces) {
  std::vector<double> known;
  for (const auto& pace : paces) {
    if (pace) known.push_back(*pace);
  }
  if (known.empty()) return 0;
  const double middle = quantile(known, 0.5);
  double sum = 0;
  for (const double pace : known) sum += std::min(std::abs(pace - middle), 1.0);
  return sum / static_cast<double>(known.size());
}

}  // namespace

double quantile(std::vector<double> values, double share) {
  CHECK(!values.empty(), "a quantile is of something");
  const auto nth = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + nth, values.end());
  return values[static_cast<std::size_t>(nth)];
}

PaceModel::PaceModel(const Observations& observations, std::span<const std::size_t> windows) {
  const std::vector<Passage> passages = sums(observations, windows);
  const std::vector<double> load = loads(observations, passages);
  double least = spread(paces_with({}, passages, load)) * kGain;
  for (const double share : kShares) {
    for (const double bytes_of_message : kBytesOfMessage) {
      const double found = spread(
          paces_with({.bytes_of_message = bytes_of_message, .share = share}, passages, load));
      if (found >= least) continue;
      least = found;
      bytes_of_message_ = bytes_of_message;
      share_ = share;
    }
  }
}

std::vector<std::optional<double>> PaceModel::paces(const Observations& observations,
                                                    std::span<const std::size_t> windows) const {
  const std::vector<Passage> passages = sums(observations, windows);
  std::vector<std::optional<double>> result =
      paces_with({.bytes_of_message = bytes_of_message_, .share = share_}, passages,
                 loads(observations, passages));
  compare_within_kinds(observations, result);
  return result;
}

}  // namespace rehearsal::diagnosis
