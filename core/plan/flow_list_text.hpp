#pragma once

#include <string>

#include "core/plan/flow_list.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::plan {

// The lines of `rehearse flows`, described in docs/flows.md. Each ends in "\n"; text is added to
// `out`, so that one string serves all lines.

enum class FlowFormat : std::uint8_t { jsonl, csv };
std::string_view to_string(FlowFormat format);

/// The line of titles that a CSV begins with; nothing for JSONL.
std::string flow_header(FlowFormat format);
void append_flow(const Plan& plan, const FlowLine& line, FlowFormat format, std::string& out);

/// The totals of one iteration of every NIC of the plan, with header.
std::string nic_totals(const Plan& plan, const Load& load, FlowFormat format);

/// Every flow of background traffic that the plan's faults make, with header: not messages of an
/// iteration but what passes while the fault is on.
std::string background_lines(const Plan& plan, FlowFormat format);

/// "0:3:1:4:0:17": job, source rank, op, destination rank, channel, step.
std::string to_string(const MessageId& id);

}  // namespace rehearsal::plan
