#include "core/coordination/messages.hpp"

#include <algorithm>
#include <limits>

#include "core/base/names.hpp"
#include "core/coordination/log.hpp"
#include "core/protocol/frame.hpp"

namespace rehearsal::coordination {

void to_message(const plan::Nic& nic, protocol::Nic& message) {
  message.set_name(nic.name);
  message.set_address(nic.address);
  message.set_line_rate_bits_per_second(nic.line_rate.bits_per_second());
  message.set_mtu(nic.mtu);
  if (!nic.rdma) return;
  protocol::RdmaPort& port = *message.mutable_rdma();
  port.set_device(nic.rdma->device);
  port.set_port(nic.rdma->port);
  port.set_active(nic.rdma->active);
  port.set_ethernet(nic.rdma->ethernet);
  port.set_rate_bits_per_second(nic.rdma->rate.bits_per_second());
  port.set_mtu(nic.rdma->mtu);
  for (const plan::RdmaGid& gid : nic.rdma->gids) {
    protocol::RdmaGid& one = *port.add_gids();
    one.set_type(std::string(plan::to_string(gid.type)));
    one.set_address(gid.address);
  }
  port.set_rate_limit_min(nic.rdma->rate_limits.min.bits_per_second());
  port.set_rate_limit_max(nic.rdma->rate_limits.max.bits_per_second());
}

void to_message(const host::Finding& finding, protocol::HostFinding& message) {
  message.set_health(std::string(host::to_string(finding.health)));
  message.set_subject(finding.subject);
  message.set_what(finding.what);
  message.set_fix(finding.fix);
}

host::Finding from_message(const protocol::HostFinding& message) {
  using Health = host::Finding::Health;
  host::Finding finding{.health = Health::notable,
                        .subject = message.subject(),
                        .what = message.what(),
                        .fix = message.fix()};
  for (const Health health : {Health::good, Health::bad})
    if (message.health() == host::to_string(health)) finding.health = health;
  return finding;
}

void to_message(const fault::KernelOffer& offer, protocol::KernelOffer& message) {
  message.set_helper(offer.helper);
  for (const fault::FaultKind kind : offer.faults) message.add_faults(std::string(to_string(kind)));
  for (const std::string& name : offer.interfaces) message.add_interfaces(name);
  message.set_duration_max_ns(static_cast<std::uint64_t>(offer.duration_max.count()));
}

void to_message(const fault::ExternalOffer& offer, protocol::ExternalOffer& message) {
  message.set_runner(offer.runner);
  for (const fault::ExternalCommand& command : offer.commands) {
    protocol::ExternalCommand& one = *message.add_commands();
    one.set_name(command.name);
    one.set_duration_max_ns(static_cast<std::uint64_t>(command.duration_max.count()));
    one.set_time_max_ns(static_cast<std::uint64_t>(command.time_max.count()));
    one.set_problem(plain(command.problem));
    for (const fault::ArgumentRule& rule : command.arguments) {
      protocol::ExternalArgument& argument = *one.add_arguments();
      argument.set_name(rule.name);
      if (const auto* range = std::get_if<fault::IntegerArgument>(&rule.type)) {
        argument.set_integer(true);
        argument.set_min(range->min);
        argument.set_max(range->max);
      } else if (const auto* words = std::get_if<fault::WordArgument>(&rule.type)) {
        for (const std::string& word : words->one_of) argument.add_one_of(word);
      } else {
        argument.set_length_max(std::get<fault::NameArgument>(rule.type).length_max);
      }
    }
  }
}

void to_summary(const fault::ExternalOffer& offer, protocol::ExternalOffer& message) {
  to_message(offer, message);
  for (protocol::ExternalCommand& command : *message.mutable_commands()) {
    for (protocol::ExternalArgument& argument : *command.mutable_arguments()) {
      protocol::ExternalArgument name;
      name.set_name(argument.name());
      argument = std::move(name);
    }
  }
}

void to_message(const plan::Inventory& inventory, protocol::Inventory& message) {
  message.set_host(inventory.host);
  message.set_shared_nics(inventory.shared_nics);
  for (const plan::Nic& nic : inventory.nics) to_message(nic, *message.add_nics());
  for (const plan::TransportKind kind : inventory.transports) {
    message.add_transports(std::string(plan::to_string(kind)));
  }
  to_message(inventory.kernel, *message.mutable_kernel());
  to_message(inventory.external, *message.mutable_external());
  for (const std::string& name : inventory.control_interfaces) message.add_control_interfaces(name);
}

namespace {

constexpr std::size_t kInterfacesMax = 512;  // of one host

std::optional<plan::RdmaPort> rdma_port_of(const protocol::Nic& nic) {
  if (!nic.has_rdma()) return std::nullopt;
  const protocol::RdmaPort& port = nic.rdma();
  plan::RdmaPort result{.device = port.device(),
                        .port = port.port(),
                        .active = port.active(),
                        .ethernet = port.ethernet(),
                        .rate = BitRate{port.rate_bits_per_second()},
                        .mtu = port.mtu(),
                        .gids = {},
                        .rate_limits = {.min = BitRate{port.rate_limit_min()},
                                        .max = BitRate{port.rate_limit_max()}}};
  for (const protocol::RdmaGid& gid : port.gids()) {
    // Of a type that this coordinator does not know nothing can be planned.
    if (const auto type = plan::gid_type(gid.type()))
      result.gids.push_back({.type = *type, .address = gid.address()});
  }
  return result;
}

}  // namespace

std::vector<std::string> interfaces_of(
    const google::protobuf::RepeatedPtrField<std::string>& names) {
  std::vector<std::string> interfaces;
  for (const std::string& name : names) {
    if (interfaces.size() == kInterfacesMax) break;
    if (!name.empty() && name.size() <= fault::kInterfaceNameMax) {
      interfaces.push_back(one_line(name));
    }
  }
  return interfaces;
}

fault::KernelOffer from_message(const protocol::KernelOffer& message) {
  fault::KernelOffer offer{.helper = message.helper()};
  for (const std::string& word : message.faults()) {
    if (offer.faults.size() == fault::kFaultKinds.size()) break;
    if (const auto kind = value_named(fault::kFaultKinds, word)) offer.faults.push_back(*kind);
  }
  offer.interfaces = interfaces_of(message.interfaces());
  const auto most = static_cast<std::uint64_t>(fault::kFaultDurationMost.count());
  offer.duration_max =
      Duration{static_cast<Duration::rep>(std::min(message.duration_max_ns(), most))};
  return offer;
}

namespace {

std::optional<fault::ArgumentRule> rule_of(const protocol::ExternalArgument& message) {
  if (!fault::is_command_name(message.name())) return std::nullopt;
  if (message.integer() && message.min() > message.max()) return std::nullopt;
  if (message.integer())
    return fault::ArgumentRule{message.name(),
                               fault::IntegerArgument{message.min(), message.max()}};
  if (message.one_of().empty()) {
    const auto most = static_cast<std::uint32_t>(fault::kArgumentValueMax);
    return fault::ArgumentRule{message.name(),
                               fault::NameArgument{std::min(message.length_max(), most)}};
  }
  fault::WordArgument words;
  for (const std::string& word : message.one_of()) {
    if (words.one_of.size() < fault::kArgumentWordsMax && fault::is_safe_word(word))
      words.one_of.push_back(word);
  }
  return fault::ArgumentRule{message.name(), std::move(words)};
}

Duration bounded(std::uint64_t nanoseconds, Duration most) {
  return Duration{
      static_cast<Duration::rep>(std::min(nanoseconds, static_cast<std::uint64_t>(most.count())))};
}

}  // namespace

fault::ExternalOffer from_message(const protocol::ExternalOffer& message) {
  /// Each of its verbs at its limit, as often as one request may need them.
  constexpr Duration kTimeMost = 6 * fault::kCommandLimitMost;
  constexpr std::size_t kProblemBytesMax = 200;
  fault::ExternalOffer offer{.runner = message.runner()};
  for (const protocol::ExternalCommand& one : message.commands()) {
    if (offer.commands.size() == fault::kCommandsMax) break;
    if (!fault::is_command_name(one.name())) continue;
    fault::ExternalCommand command{
        .name = one.name(),
        .arguments = {},
        .duration_max = bounded(one.duration_max_ns(), fault::kFaultDurationMost),
        .time_max = bounded(one.time_max_ns(), kTimeMost),
        .problem = cut(one_line(one.problem()), kProblemBytesMax)};
    for (const protocol::ExternalArgument& argument : one.arguments()) {
      if (command.arguments.size() == fault::kArgumentsMax) break;
      if (auto rule = rule_of(argument)) command.arguments.push_back(std::move(*rule));
    }
    offer.commands.push_back(std::move(command));
  }
  return offer;
}

plan::Nic from_message(const protocol::Nic& message) {
  return {.name = message.name(),
          .address = message.address(),
          .line_rate = BitRate{message.line_rate_bits_per_second()},
          .mtu = message.mtu(),
          .rdma = rdma_port_of(message)};
}

plan::Inventory from_message(const protocol::Inventory& message) {
  plan::Inventory inventory;
  inventory.host = message.host();
  inventory.shared_nics = message.shared_nics();
  for (const protocol::Nic& nic : message.nics()) inventory.nics.push_back(from_message(nic));
  // A newer agent may offer transports that this coordinator does not know: it cannot plan them.
  for (const std::string& offered : message.transports()) {
    for (const auto kind :
         {plan::TransportKind::loopback, plan::TransportKind::tcp, plan::TransportKind::rdma}) {
      if (offered == plan::to_string(kind)) inventory.transports.push_back(kind);
    }
  }
  inventory.kernel = from_message(message.kernel());
  inventory.external = from_message(message.external());
  inventory.control_interfaces = interfaces_of(message.control_interfaces());
  return inventory;
}

void to_message(const std::optional<ClockOffset>& clock, protocol::ClockEstimate& message) {
  message.set_known(clock.has_value());
  if (!clock) return;
  message.set_offset_ns(clock->offset.count());
  message.set_error_bound_ns(static_cast<std::uint64_t>(clock->error_bound.count()));
}

std::optional<ClockOffset> from_message(const protocol::ClockEstimate& message) {
  // Sums with instants must stay within 64 bits.
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 8;
  // A clock known no better than this is of no use to an appointment: it counts as not known.
  constexpr std::uint64_t kBoundMost = 1'000'000'000;
  const std::int64_t offset = message.offset_ns();
  if (!message.known() || offset > kMost || offset < -kMost) return std::nullopt;
  if (message.error_bound_ns() > kBoundMost) return std::nullopt;
  const auto bound = static_cast<std::int64_t>(message.error_bound_ns());
  return ClockOffset{.offset = Duration{offset}, .error_bound = Duration{bound}};
}

void to_message(const KeyedAddress& address, protocol::ConnectionAddress& message) {
  message.set_job(address.key.job.value);
  message.set_communicator(address.key.communicator.value);
  message.set_source(address.key.source.value);
  message.set_destination(address.key.destination.value);
  message.set_channel(address.key.channel);
  message.set_use(static_cast<std::uint32_t>(address.key.use));
  message.set_address(address.address);
}

std::optional<KeyedAddress> from_message(const protocol::ConnectionAddress& message) {
  if (message.channel() > std::numeric_limits<std::uint16_t>::max() ||
      message.use() > static_cast<std::uint32_t>(plan::kConnectionUseLast)) {
    return std::nullopt;
  }
  return KeyedAddress{.key = {.job = JobIndex{message.job()},
                              .communicator = CommunicatorIndex{message.communicator()},
                              .source = Rank{message.source()},
                              .destination = Rank{message.destination()},
                              .channel = static_cast<std::uint16_t>(message.channel()),
                              .use = static_cast<plan::ConnectionUse>(message.use())},
                      .address = message.address()};
}

namespace {

/// Several messages of addresses, each well under the cap of a frame.
template <typename Mutable>
std::vector<protocol::Envelope> address_messages(const std::string& run,
                                                 const std::vector<KeyedAddress>& addresses,
                                                 Mutable mutable_message) {
  constexpr std::size_t kFieldsBytes = 64;  // more than the numbers of one address take
  std::vector<protocol::Envelope> messages;
  auto* message = mutable_message(messages.emplace_back());
  message->set_run(run);
  std::size_t bytes = 0;
  for (const KeyedAddress& address : addresses) {
    const std::size_t size = address.address.size() + kFieldsBytes;
    if (bytes > 0 && bytes + size > protocol::kPartBytesMax) {
      message = mutable_message(messages.emplace_back());
      message->set_run(run);
      bytes = 0;
    }
    bytes += size;
    to_message(address, *message->add_addresses());
  }
  message->set_last(true);
  return messages;
}

}  // namespace

std::vector<protocol::Envelope> prepared_messages(const std::string& run,
                                                  const std::vector<KeyedAddress>& addresses) {
  return address_messages(run, addresses,
                          [](protocol::Envelope& e) { return e.mutable_prepared(); });
}

std::vector<protocol::Envelope> connect_messages(const std::string& run,
                                                 const std::vector<KeyedAddress>& addresses) {
  return address_messages(run, addresses,
                          [](protocol::Envelope& e) { return e.mutable_connect(); });
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace rehearsal::coordination
