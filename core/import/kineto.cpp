#include "core/import/kineto.hpp"

#include <algorithm>
#include <unordered_map>

#include "core/import/kineto_events.hpp"
#include "core/import/rank_name.hpp"
#include "core/profile/limits.hpp"

namespace rehearsal::importer {
namespace {

using Annotation = KinetoEvents::Annotation;
using Launches = std::unordered_map<std::uint64_t, const KinetoEvents::Launch*>;

Failure wrong_event(std::string_view file, std::size_t event, std::string_view what) {
  return wrong_record(file, "event", event, what);
}

Result<Rank> rank_of(std::string_view file, const KinetoEvents& events) {
  if (events.rank) {
    if (*events.rank >= profile::kRanksMax) {
      return invalid(std::string(file) + ": distributedInfo: rank " + std::to_string(*events.rank) +
                     "; at most " + std::to_string(profile::kRanksMax - 1) + " is possible");
    }
    return Rank{static_cast<std::uint32_t>(*events.rank)};
  }
  if (const auto named = rank_in_name(file)) return *named;
  return invalid(std::string(file) +
                 ": the rank is missing: neither distributedInfo nor the file's name has it (name "
                 "the file like rank-3.json)");
}

Result<const Annotation*> steady_iteration(std::string_view file, const KinetoEvents& events) {
  std::vector<const Annotation*> steps;
  for (const Annotation& annotation : events.annotations) {
    if (annotation.name.starts_with("ProfilerStep#")) steps.push_back(&annotation);
  }
  if (steps.empty()) {
    return invalid(std::string(file) +
                   ": no 'ProfilerStep#N' annotation, so no iteration can be told apart; capture "
                   "with a profiler schedule and call step()");
  }
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>((steps.size() - 1) / 2);
  std::stable_sort(steps.begin(), steps.end(), [](const Annotation* a, const Annotation* b) {
    return a->span.end - a->span.begin < b->span.end - b->span.begin;
  });
  return *middle;
}

/// "## forward ##" → "forward"; empty for any other annotation.
std::string phase_name(std::string_view name) {
  if (!name.starts_with("## ") || !name.ends_with(" ##") || name.size() < 7) return {};
  return std::string(name.substr(3, name.size() - 6));
}

std::vector<KinetoIteration::Phase> phases_of(const KinetoEvents& events, const Annotation& step) {
  std::vector<KinetoIteration::Phase> phases;
  for (const Annotation& annotation : events.annotations) {
    if (annotation.thread != step.thread || !step.span.contains(annotation.span.begin)) continue;
    if (std::string name = phase_name(annotation.name); !name.empty()) {
      phases.push_back({std::move(name), annotation.span});
    }
  }
  std::stable_sort(phases.begin(), phases.end(), [](const auto& a, const auto& b) {
    return a.span.begin != b.span.begin ? a.span.begin < b.span.begin : a.span.end > b.span.end;
  });
  // What lies inside an earlier one is no top level.
  std::int64_t covered = step.span.begin;
  std::erase_if(phases, [&](const auto& phase) {
    if (phase.span.begin < covered && phase.span.end <= covered) return true;
    covered = std::max(covered, phase.span.end);
    return false;
  });
  return phases;
}

std::vector<KinetoIteration::Compute> compute_of(const KinetoEvents& events, const Span& span,
                                                 const Launches& launches) {
  std::vector<KinetoIteration::Compute> compute;
  for (const KinetoEvents::Kernel& kernel : events.kernels) {
    if (kernel.collective) continue;
    const auto launch = launches.find(kernel.correlation);
    if (launch == launches.end() || !span.contains(launch->second->begin)) continue;
    compute.push_back({launch->second->begin, kernel.span.end});
  }
  std::sort(compute.begin(), compute.end(),
            [](const auto& a, const auto& b) { return a.launched < b.launched; });
  return compute;
}

Result<CapturedCollective> what_of(std::string_view file,
                                   const KinetoEvents::HostCollective& collective) {
  const auto kind = collective_kind(collective.op);
  if (!kind) {
    return wrong_event(file, collective.event,
                       "'nccl:" + collective.op + "' is no operation this importer knows");
  }
  if (!collective.elements) {
    return wrong_event(file, collective.event,
                       "'nccl:" + collective.op +
                           "' has no 'Input Dims', so no size; capture with record_shapes=True");
  }
  const auto type = element_type(collective.type);
  if (!type) {
    return wrong_event(file, collective.event,
                       "'Input type' '" + collective.type + "' has no known width");
  }
  return CapturedCollective{.kind = *kind,
                            .called = collective.op,
                            .elements = *collective.elements,
                            .element_bytes = type->second,
                            .type = type->first,
                            .sends = {},
                            .recvs = {}};
}

/// Kernel → launch with its correlation → the nccl: annotation on the launch's thread around it.
class KernelLinks {
 public:
  KernelLinks(const KinetoEvents& events, const Launches& launches) {
    for (const KinetoEvents::Kernel& kernel : events.kernels) {
      if (!kernel.collective) continue;
      const auto launch = launches.find(kernel.correlation);
      if (launch != launches.end()) links_.push_back({launch->second, &kernel});
    }
    std::sort(links_.begin(), links_.end(),
              [](const Link& a, const Link& b) { return a.launch->begin < b.launch->begin; });
  }

  struct Link {
    const KinetoEvents::Launch* launch = nullptr;
    const KinetoEvents::Kernel* kernel = nullptr;
  };

  std::optional<Link> of(const KinetoEvents::HostCollective& collective) const {
    auto link = std::lower_bound(links_.begin(), links_.end(), collective.span.begin,
                                 [](const Link& a, std::int64_t t) { return a.launch->begin < t; });
    for (; link != links_.end() && link->launch->begin <= collective.span.end; ++link) {
      if (link->launch->thread == collective.thread) return *link;
    }
    return std::nullopt;
  }

 private:
  std::vector<Link> links_;
};

Result<std::vector<KinetoIteration::Collective>> collectives_of(std::string_view file,
                                                                const KinetoEvents& events,
                                                                const Span& span,
                                                                const Launches& launches) {
  const KernelLinks links(events, launches);
  std::vector<KinetoIteration::Collective> collectives;
  for (const KinetoEvents::HostCollective& collective : events.collectives) {
    if (!span.contains(collective.span.begin)) continue;
    ASSIGN_OR_RETURN(CapturedCollective what, what_of(file, collective));
    const auto link = links.of(collective);
    if (!link) {
      return wrong_event(file, collective.event,
                         "'nccl:" + collective.op +
                             "' has no kernel: no launch inside it on its thread leads to one (a "
                             "cut trace, or one without GPU activity)");
    }
    collectives.push_back(
        {std::move(what), link->launch->begin, link->kernel->span, collective.event});
  }
  std::sort(collectives.begin(), collectives.end(),
            [](const auto& a, const auto& b) { return a.launched < b.launched; });
  return collectives;
}

}  // namespace

bool is_kineto(std::string_view content) {
  return content.find("\"traceEvents\"") != std::string_view::npos;
}

Result<KinetoIteration> read_kineto(std::string_view file, std::string_view json) {
  ASSIGN_OR_RETURN(const KinetoEvents events, read_kineto_events(file, json));
  KinetoIteration iteration;
  iteration.file = std::string(file);
  ASSIGN_OR_RETURN(iteration.rank, rank_of(file, events));
  if (events.world_size && *events.world_size <= profile::kRanksMax) {
    iteration.world_size = static_cast<std::uint32_t>(*events.world_size);
  }
  ASSIGN_OR_RETURN(const Annotation* step, steady_iteration(file, events));
  iteration.name = step->name;
  iteration.span = step->span;
  iteration.phases = phases_of(events, *step);

  Launches launches;
  launches.reserve(events.launches.size());
  for (const KinetoEvents::Launch& launch : events.launches) {
    launches.emplace(launch.correlation, &launch);
  }
  iteration.compute = compute_of(events, step->span, launches);
  ASSIGN_OR_RETURN(iteration.collectives, collectives_of(file, events, step->span, launches));
  for (const std::int64_t wait : events.waits) {
    if (step->span.contains(wait)) iteration.waits.push_back(wait);
  }
  std::sort(iteration.waits.begin(), iteration.waits.end());
  return iteration;
}

}  // namespace rehearsal::importer
