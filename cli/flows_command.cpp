#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/drill_file.hpp"
#include "cli/local_plan.hpp"
#include "core/plan/flow_list_text.hpp"

namespace rehearsal::cli {
namespace {

using plan::FlowFormat;

struct FlowOptions {
  std::string drill;
  std::string format = "jsonl";
  bool on_wire = false;
  bool per_nic = false;
  bool background = false;
  bool without_cluster = false;
};

/// False: nobody reads any more (`rehearse flows … | head`), which is no error.
bool print(std::string& text) {
  const std::size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  const bool all = written == text.size();
  text.clear();
  return all;
}

void print_flows(const plan::Plan& plan, FlowFormat format, bool on_wire) {
  constexpr std::size_t kAtOnce = 1U << 16;
  std::string text = plan::flow_header(format);
  plan::FlowList list{plan};
  for (plan::FlowLine line; list.next(line);) {
    if (on_wire && line.passage != plan::Passage::wire) continue;
    plan::append_flow(plan, line, format, text);
    if (text.size() >= kAtOnce && !print(text)) return;
  }
  print(text);
}

Result<void> show_flows(const std::string& coordinator, const FlowOptions& options) {
  ASSIGN_OR_RETURN(const DrillFile drill, load_drill(options.drill));
  ASSIGN_OR_RETURN(const LocalPlan local, options.without_cluster
                                              ? plan_without_cluster(drill)
                                              : plan_with_cluster(drill, coordinator));
  const FlowFormat format = options.format == "csv" ? FlowFormat::csv : FlowFormat::jsonl;
  if (options.per_nic) {
    std::string text = plan::nic_totals(local.plan, local.load, format);
    print(text);
  } else if (options.background) {
    std::string text = plan::background_lines(local.plan, format);
    print(text);
  } else {
    print_flows(local.plan, format, options.on_wire);
  }
  return {};
}

}  // namespace

void add_flows_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<FlowOptions>();
  CLI::App* command = app.add_subcommand(
      "flows", "list the messages of one iteration of a drill, from rank to rank; sends none");
  command->add_option("DRILL", options->drill, "the drill, a YAML file")->required();
  command->add_flag("--on-wire", options->on_wire, "only messages between hosts");
  CLI::Option* per_nic = command->add_flag("--per-nic", options->per_nic,
                                           "instead of messages, the bytes of every NIC");
  command
      ->add_flag("--background", options->background,
                 "instead of messages, the flows that faults make beside the jobs")
      ->excludes(per_nic);
  command->add_option("--format", options->format, "jsonl or csv")
      ->check(CLI::IsMember({"jsonl", "csv"}))
      ->capture_default_str();
  command->add_flag("--without-cluster", options->without_cluster,
                    "take the hosts from the drill as if they were there; asks no coordinator");
  command->callback([&context, options] {
    const auto done = show_flows(context.coordinator, *options);
    context.exit_code = done ? ExitCode::pass : report_error(done.error());
  });
}

}  // namespace rehearsal::cli
