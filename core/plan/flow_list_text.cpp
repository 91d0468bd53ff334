#include "core/plan/flow_list_text.hpp"

#include <charconv>

#include "core/plan/background.hpp"

namespace rehearsal::plan {
namespace {

void add(std::string& out, std::uint64_t number) {
  char digits[20];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));
}

void add(std::string& out, const MessageId& id) {
  const std::uint64_t parts[] = {id.job.value,         id.source.value, id.op,
                                 id.destination.value, id.channel,      id.step};
  for (const std::uint64_t& part : parts) {
    if (&part != parts) out += ':';
    add(out, part);
  }
}

// Names are letters, digits and ". _ - :" in a drill, but anything in a profile.
void add_json_text(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

void add_csv_text(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

const std::string& host_name(const Plan& plan, const Binding& binding) {
  return plan.hosts[binding.host.value].host;
}
const std::string& nic_name(const Plan& plan, const Binding& binding) {
  return plan.hosts[binding.host.value].nics[binding.nic.value].name;
}
std::string_view communicator_name(const Plan& plan, const FlowLine& line) {
  return plan.jobs[line.id.job.value].profile->communicators[line.op->communicator.value].name;
}

/// Writes the fields of a line in either format, in one order.
class Fields {
 public:
  Fields(FlowFormat format, std::string& out) : json_(format == FlowFormat::jsonl), out_(out) {
    if (json_) out_ += '{';
  }
  void text(std::string_view name, std::string_view value) {
    begin(name);
    json_ ? add_json_text(out_, value) : add_csv_text(out_, value);
  }
  void number(std::string_view name, std::uint64_t value) {
    begin(name);
    add(out_, value);
  }
  void none(std::string_view name) {
    begin(name);
    if (json_) out_ += "null";
  }
  void id(std::string_view name, const MessageId& value) {
    begin(name);
    if (json_) out_ += '"';
    add(out_, value);
    if (json_) out_ += '"';
  }
  /// A JSON list; in a CSV its elements with spaces between them.
  template <typename Element>
  void list(std::string_view name, std::span<const Element> elements) {
    constexpr bool kIds = std::is_same_v<Element, MessageId>;
    begin(name);
    if (json_) out_ += '[';
    for (const Element& element : elements) {
      if (&element != elements.data()) out_ += json_ ? ',' : ' ';
      if (json_ && kIds) out_ += '"';
      add(out_, element);
      if (json_ && kIds) out_ += '"';
    }
    if (json_) out_ += ']';
  }
  void end() { out_ += json_ ? "}\n" : "\n"; }

 private:
  void begin(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    if (!json_) return;
    out_ += '"';
    out_ += name;
    out_ += "\":";
  }

  bool json_;
  bool first_ = true;
  std::string& out_;
};

}  // namespace

std::string_view to_string(FlowFormat format) {
  return format == FlowFormat::jsonl ? "jsonl" : "csv";
}

std::string to_string(const MessageId& id) {
  std::string text;
  add(text, id);
  return text;
}

std::string flow_header(FlowFormat format) {
  if (format == FlowFormat::jsonl) return {};
  return "id,job,src_rank,dst_rank,src_host,dst_host,passage,src_nic,dst_nic,rail,op,dst_op,kind,"
         "communicator,channel,step,bytes,after,after_ops\n";
}

void append_flow(const Plan& plan, const FlowLine& line, FlowFormat format, std::string& out) {
  Fields fields{format, out};
  fields.id("id", line.id);
  fields.text("job", plan.jobs[line.id.job.value].name);
  fields.number("src_rank", line.id.source.value);
  fields.number("dst_rank", line.id.destination.value);
  fields.text("src_host", host_name(plan, line.from));
  fields.text("dst_host", host_name(plan, line.to));
  fields.text("passage", to_string(line.passage));
  if (line.passage == Passage::wire) {
    fields.text("src_nic", nic_name(plan, line.from));
    fields.text("dst_nic", nic_name(plan, line.to));
    fields.number("rail", line.from.nic.value);
  } else {
    for (const std::string_view name : {"src_nic", "dst_nic", "rail"}) fields.none(name);
  }
  fields.number("op", line.id.op);
  fields.number("dst_op", line.destination_op);
  fields.text("kind", to_string(line.op->kind));
  fields.text("communicator", communicator_name(plan, line));
  fields.number("channel", line.id.channel);
  fields.number("step", line.id.step);
  fields.number("bytes", line.bytes.count());
  fields.list("after", line.after);
  fields.list("after_ops", line.after_ops);
  fields.end();
}

std::string nic_totals(const Plan& plan, const Load& load, FlowFormat format) {
  std::string text =
      format == FlowFormat::csv ? "host,nic,rail,sent_bytes,received_bytes\n" : std::string{};
  for (const NicLoad& nic : load.nics) {
    const Binding binding{nic.host, nic.nic};
    Fields fields{format, text};
    fields.text("host", host_name(plan, binding));
    fields.text("nic", nic_name(plan, binding));
    fields.number("rail", nic.nic.value);
    fields.number("sent_bytes", nic.sent.count());
    fields.number("received_bytes", nic.received.count());
    fields.end();
  }
  return text;
}

std::string background_lines(const Plan& plan, FlowFormat format) {
  std::string text = format == FlowFormat::csv
                         ? "fault,src_host,dst_host,src_nic,dst_nic,level,rate_bits_per_second,"
                           "message_bytes,credits\n"
                         : std::string{};
  for (const BackgroundFlow& flow : background_flows(plan)) {
    const fault::PlannedFault& fault = plan.faults[flow.fault];
    for (std::uint32_t level = 0; level < fault.what.levels.size(); ++level) {
      Fields fields{format, text};
      fields.text("fault", fault.name);
      fields.text("src_host", host_name(plan, flow.source));
      fields.text("dst_host", host_name(plan, flow.destination));
      fields.text("src_nic", nic_name(plan, flow.source));
      fields.text("dst_nic", nic_name(plan, flow.destination));
      fields.number("level", level);
      const std::uint64_t rate = rate_of(plan, flow, level).bits_per_second();
      rate == 0 ? fields.none("rate_bits_per_second") : fields.number("rate_bits_per_second", rate);
      fields.number("message_bytes", fault.what.message.count());
      fields.number("credits", fault.what.credits);
      fields.end();
    }
  }
  return text;
}

}  // namespace rehearsal::plan
