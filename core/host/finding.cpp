#include "core/host/finding.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace rehearsal::host {

std::string_view to_string(Finding::Health health) {
  switch (health) {
    case Finding::Health::good:
      return "ok";
    case Finding::Health::notable:
      return "note";
    case Finding::Health::bad:
      return "BAD";
  }
  return "?";
}

std::string findings_text(std::vector<Finding> findings) {
  std::ranges::stable_sort(findings, {}, &Finding::health);
  std::string text;
  for (const Finding& finding : findings) {
    std::string line = std::string(to_string(finding.health));
    line.resize(5, ' ');
    text += line + finding.subject + ": " + finding.what + "\n";
    if (!finding.fix.empty()) text += "       " + finding.fix + "\n";
  }
  return text;
}

std::string findings_json(std::vector<Finding> findings) {
  std::ranges::stable_sort(findings, {}, &Finding::health);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"health", to_string(finding.health)},
                    {"subject", finding.subject},
                    {"what", finding.what},
                    {"fix", finding.fix.empty() ? nlohmann::ordered_json(nullptr)
                                                : nlohmann::ordered_json(finding.fix)}});
  }
  return nlohmann::ordered_json{{"findings", std::move(list)}}.dump(2) + "\n";
}

Finding::Health worst(const std::vector<Finding>& findings) {
  const auto found = std::ranges::max_element(findings, {}, &Finding::health);
  return found == findings.end() ? Finding::Health::good : found->health;
}

}  // namespace rehearsal::host
