#include "core/diagnosis/explanation.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "core/diagnosis/pace.hpp"

namespace rehearsal::diagnosis {
namespace {

// Among flows that are not to blame, this one sets the pace: hidden ways make flows look faster,
// never slower.
constexpr double kReference = 0.75;
// A flow to blame that is faster than the others to blame may have its way partly hidden.
constexpr double kHidden = 0.5;
// And so may the way of one that is not to blame, more often.
constexpr double kHiddenOther = 0.2;
// What a link between NICs that have other peers must explain better than one of the NICs: a NIC is
// more often bad than one of the ways to it.
constexpr double kPriceOfLink = 0.3;
// What a place with more flows must explain better, in parts of its effect.
constexpr double kPriceOfDirection = 0.15;
// Places are looked for around this many of the slowest flows.
constexpr std::size_t kFlowsBlamedMax = 64;

// The places that could be to blame: those of the slowest flows.
class Explanations {
 public:
  Explanations(const Observations& observations, const Paces& paces) : observations_(observations) {
    for (const Flow& flow : observations.flows) {
      ++peers_of_source_[flow.source];
      ++peers_of_destination_[flow.destination];
    }
    const std::vector<std::size_t> slowest = slowest_flows(paces);
    std::set<NicNumber> nics;
    for (const std::size_t flow : slowest) {
      add_link(observations.flows[flow]);
      nics.insert({observations.flows[flow].source, observations.flows[flow].destination});
    }
    std::set<HostIndex> hosts;
    for (const NicNumber nic : nics) {
      add_nic(nic);
      hosts.insert(observations.host_of_nic[nic]);
    }
    for (const HostIndex host : hosts) add_host(host);
  }
  const std::vector<Explanation>& all() const { return all_; }

 private:
  static std::vector<std::size_t> slowest_flows(const Paces& paces) {
    std::vector<std::size_t> flows;
    for (std::size_t i = 0; i < paces.size(); ++i) {
      if (paces[i]) flows.push_back(i);
    }
    std::ranges::stable_sort(flows,
                             [&](std::size_t a, std::size_t b) { return *paces[a] > *paces[b]; });
    flows.resize(std::min(flows.size(), kFlowsBlamedMax));
    return flows;
  }

  template <typename Blames>
  void add(const Suspect& suspect, std::size_t directions, Blames blames) {
    Explanation explanation{.suspect = suspect, .blamed = {}, .directions = directions};
    for (const Flow& flow : observations_.flows) explanation.blamed.push_back(blames(flow));
    const bool new_set = std::ranges::none_of(
        all_, [&](const Explanation& earlier) { return earlier.blamed == explanation.blamed; });
    if (new_set) all_.push_back(std::move(explanation));
  }

  void add_link(const Flow& link) {
    Suspect suspect{.place = Place::link, .nic = link.source, .destination = link.destination};
    suspect.ends_alike =
        peers_of_source_[link.source] == 1 && peers_of_destination_[link.destination] == 1;
    add(suspect, 1, [&](const Flow& flow) { return &flow == &link; });
  }
  void add_nic(NicNumber nic) {
    const auto sends = [&](const Flow& flow) { return flow.source == nic; };
    const auto receives = [&](const Flow& flow) { return flow.destination == nic; };
    add({.place = Place::nic_sending, .nic = nic}, 1, sends);
    add({.place = Place::nic_receiving, .nic = nic}, 1, receives);
    add({.place = Place::nic, .nic = nic}, 2,
        [&](const Flow& flow) { return sends(flow) || receives(flow); });
  }
  void add_host(HostIndex host) {
    if (std::ranges::count(observations_.host_of_nic, host) < 2) return;
    add({.place = Place::host, .host = host}, 3, [&](const Flow& flow) {
      return observations_.host_of_nic[flow.source] == host ||
             observations_.host_of_nic[flow.destination] == host;
    });
  }

  const Observations& observations_;
  std::map<NicNumber, std::size_t> peers_of_source_;
  std::map<NicNumber, std::size_t> peers_of_destination_;
  std::vector<Explanation> all_;
};

}  // namespace

double Fit::cleanness() const { return std::max(0.0, 1 - residual / effect); }

std::optional<Fit> fit_of(const Explanation& explanation, const Paces& paces) {
  std::vector<double> slow;
  std::vector<double> others;
  for (std::size_t i = 0; i < paces.size(); ++i) {
    if (paces[i]) (explanation.blamed[i] ? slow : others).push_back(*paces[i]);
  }
  if (slow.empty() || others.empty()) return std::nullopt;
  const double reference = quantile(others, kReference);
  const double level = quantile(slow, 0.5);
  Fit fit{.effect = level - reference};
  for (const double pace : others) {
    fit.residual += pace < reference ? (reference - pace) * kHiddenOther : pace - reference;
  }
  for (const double pace : slow) {
    fit.residual += pace < level ? (level - pace) * kHidden : pace - level;
  }
  fit.residual /= static_cast<double>(slow.size() + others.size());
  return fit;
}

std::optional<Found> best_explanation(const Observations& observations, const Paces& paces,
                                      double effect_min) {
  const Explanations explanations(observations, paces);
  std::optional<Found> found;
  double least = std::numeric_limits<double>::max();
  const double flows = static_cast<double>(paces.size());
  for (const Explanation& explanation : explanations.all()) {
    const auto fit = fit_of(explanation, paces);
    if (!fit || fit->effect < effect_min) continue;
    const bool lone_link =
        explanation.suspect.place == Place::link && !explanation.suspect.ends_alike;
    const double price = kPriceOfDirection * static_cast<double>(explanation.directions - 1) +
                         (lone_link ? kPriceOfLink : 0);
    // Compared by what is left unexplained of all that the flows differ by.
    const double left = fit->residual * flows + fit->effect * price;
    if (left >= least) continue;
    least = left;
    found = Found{.explanation = explanation, .fit = *fit};
  }
  return found;
}

}  // namespace rehearsal::diagnosis
