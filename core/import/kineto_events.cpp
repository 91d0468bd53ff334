#include "core/import/kineto_events.hpp"

#include <functional>

#include "core/import/json.hpp"

namespace rehearsal::importer {
namespace {

namespace dom = simdjson::dom;

/// The fields of one event that matter; found in one walk over it.
struct Event {
  std::string_view category;
  std::string_view name;
  std::string_view ph;
  std::optional<dom::element> begin;
  std::optional<dom::element> duration;
  std::optional<dom::element> thread;
  std::optional<dom::element> args;
};

Event fields_of(dom::object object) {
  Event event;
  for (const auto [key, value] : object) {
    if (key == "ph") {
      event.ph = text_of(value).value_or("");
    } else if (key == "cat") {
      event.category = text_of(value).value_or("");
    } else if (key == "name") {
      event.name = text_of(value).value_or("");
    } else if (key == "ts") {
      event.begin = value;
    } else if (key == "dur") {
      event.duration = value;
    } else if (key == "tid") {
      event.thread = value;
    } else if (key == "args") {
      event.args = value;
    }
  }
  return event;
}

std::optional<dom::element> argument(const Event& event, std::string_view key) {
  dom::object args;
  dom::element value;
  if (!event.args || event.args->get(args) != simdjson::SUCCESS) return std::nullopt;
  if (args.at_key(key).get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

ThreadId thread_of(const Event& event) {
  if (!event.thread) return 0;
  if (const auto number = unsigned_of(*event.thread)) return *number;
  if (const auto text = text_of(*event.thread)) return std::hash<std::string_view>{}(*text);
  return 0;
}

bool is_collective_kernel(std::string_view name) {
  return name.starts_with("ncclKernel") || name.starts_with("ncclDevKernel");
}

class Reader {
 public:
  Reader(std::string_view file, KinetoEvents& events) : file_(file), events_(events) {}

  Result<void> read(dom::element root) {
    dom::object top;
    if (root.get(top) != simdjson::SUCCESS) return wrong_file("it is no JSON object");
    read_distributed_info(top);
    dom::array list;
    if (top.at_key("traceEvents").get(list) != simdjson::SUCCESS) {
      return wrong_file("'traceEvents' is missing or no list");
    }
    for (const dom::element item : list) {
      dom::object object;
      if (item.get(object) != simdjson::SUCCESS) return wrong("is no JSON object");
      RETURN_IF_ERROR(read_event(fields_of(object)));
      ++number_;
    }
    return {};
  }

 private:
  Failure wrong_file(std::string_view what) const {
    return invalid(std::string(file_) + ": " + std::string(what));
  }
  Failure wrong(std::string_view what) const { return wrong_record(file_, "event", number_, what); }

  void read_distributed_info(dom::object top) {
    dom::element value;
    if (top.at_key("distributedInfo").at_key("rank").get(value) == simdjson::SUCCESS) {
      events_.rank = unsigned_of(value);
    }
    if (top.at_key("distributedInfo").at_key("world_size").get(value) == simdjson::SUCCESS) {
      events_.world_size = unsigned_of(value);
    }
  }

  Result<void> read_event(const Event& event) {
    if (event.ph != "X") return {};
    if (event.category == "kernel" || event.category == "gpu_memcpy" ||
        event.category == "gpu_memset") {
      return read_kernel(event);
    }
    if (event.category == "cuda_runtime") return read_launch(event);
    if (event.category == "user_annotation") return read_annotation(event);
    if (event.category == "cpu_op" && event.name == "record_param_comms") return read_comms(event);
    return {};
  }

  Result<Span> span_of(const Event& event) const {
    const auto begin = event.begin ? nanoseconds_of_micros(*event.begin) : std::nullopt;
    if (!begin) return wrong("'ts' is missing or no number of microseconds");
    const auto duration = event.duration ? nanoseconds_of_micros(*event.duration) : std::nullopt;
    if (!duration || *duration < 0) return wrong("'dur' is missing or no number of microseconds");
    return Span{*begin, *begin + *duration};
  }

  Result<void> read_kernel(const Event& event) {
    ASSIGN_OR_RETURN(const Span span, span_of(event));
    const auto correlation = argument(event, "correlation");
    const auto id = correlation ? unsigned_of(*correlation) : std::nullopt;
    if (!id) return wrong("a kernel whose 'correlation' is missing or no whole number");
    events_.kernels.push_back({*id, span, is_collective_kernel(event.name)});
    return {};
  }

  Result<void> read_launch(const Event& event) {
    const auto correlation = argument(event, "correlation");
    const auto id = correlation ? unsigned_of(*correlation) : std::nullopt;
    if (!id) return {};
    ASSIGN_OR_RETURN(const Span span, span_of(event));
    events_.launches.push_back({*id, thread_of(event), span.begin});
    return {};
  }

  Result<void> read_annotation(const Event& event) {
    ASSIGN_OR_RETURN(const Span span, span_of(event));
    if (!event.name.starts_with("nccl:")) {
      events_.annotations.push_back({std::string(event.name), thread_of(event), span, number_});
      return {};
    }
    KinetoEvents::HostCollective collective{.op = std::string(event.name.substr(5)),
                                            .thread = thread_of(event),
                                            .span = span,
                                            .event = number_,
                                            .elements = std::nullopt,
                                            .type = {}};
    RETURN_IF_ERROR(read_shape(event, collective));
    events_.collectives.push_back(std::move(collective));
    return {};
  }

  /// `Input Dims` [[394241]] and `Input type` ["float"]: of the first input.
  Result<void> read_shape(const Event& event, KinetoEvents::HostCollective& collective) const {
    const auto dims = argument(event, "Input Dims");
    const auto types = argument(event, "Input type");
    if (!dims || !types) return {};
    dom::array inputs;
    dom::array shape;
    dom::array names;
    if (dims->get(inputs) != simdjson::SUCCESS || inputs.at(0).get(shape) != simdjson::SUCCESS) {
      return wrong("'Input Dims' is no list of shapes");
    }
    std::uint64_t elements = 1;
    for (const dom::element dimension : shape) {
      const auto length = unsigned_of(dimension);
      if (!length) return wrong("'Input Dims' holds something else than whole numbers");
      if (*length > kElementsMax || elements * *length > kElementsMax) {
        return wrong("'Input Dims' is over 2^46 elements");
      }
      elements *= *length;
    }
    std::string_view type;
    if (types->get(names) != simdjson::SUCCESS || names.at(0).get(type) != simdjson::SUCCESS) {
      return wrong("'Input type' is no list of names");
    }
    collective.elements = elements;
    collective.type = std::string(type);
    return {};
  }

  /// A collective has seven inputs (its nccl: annotation tells the rest), a `wait` six.
  Result<void> read_comms(const Event& event) {
    const auto dims = argument(event, "Input Dims");
    dom::array inputs;
    if (!dims || dims->get(inputs) != simdjson::SUCCESS || inputs.size() != 6) return {};
    ASSIGN_OR_RETURN(const Span span, span_of(event));
    events_.waits.push_back(span.begin);
    return {};
  }

  std::string_view file_;
  KinetoEvents& events_;
  std::size_t number_ = 0;
};

}  // namespace

Result<KinetoEvents> read_kineto_events(std::string_view file, std::string_view json) {
  KinetoEvents events;
  dom::parser parser;
  dom::element root;
  if (const auto error = parser.parse(json.data(), json.size()).get(root)) {
    return invalid(std::string(file) + ": no valid JSON: " + simdjson::error_message(error));
  }
  RETURN_IF_ERROR(Reader(file, events).read(root));
  return events;
}

}  // namespace rehearsal::importer
