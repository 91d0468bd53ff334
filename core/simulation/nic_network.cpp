#include "core/simulation/nic_network.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "core/base/check.hpp"
#include "core/base/random.hpp"

namespace rehearsal::simulation {

using replay::Completion;
using replay::ConnectionSpec;
using replay::Request;

struct NicNetwork::State {
  struct Port {
    BitRate send_rate;
    BitRate receive_rate;
    Instant send_free = Instant::min();
    Instant receive_free = Instant::min();
  };
  struct Wire {
    BitRate rate;
    Duration delay{0};
    Instant free = Instant::min();
  };
  struct End {
    HostIndex host;
    std::optional<ConnectionSpec> spec;
  };
  struct Link {
    End sender;
    End receiver;
    Instant last_arrival = Instant::min();  // in order, whatever the jitter
    bool cut = false;                       // one end is gone
  };
  /// The first and last byte of a message reach the receiver's NIC, or it is received there, or one
  /// end hears of something.
  struct Event {
    Instant time;
    std::uint64_t order = 0;
    std::size_t link = 0;
    bool arrives = false;    // at the NIC; else `completion` is due
    bool at_sender = false;  // of a completion
    Instant first_byte;
    Completion completion;
    bool operator>(const Event& other) const {
      return std::tie(time, order) > std::tie(other.time, other.order);
    }
  };

  Options options;
  Random random{1};
  std::map<Nic, Port> ports;
  std::map<std::pair<Nic, Nic>, Wire> wires;
  std::vector<Link> links;
  std::map<std::pair<HostIndex, ConnectionIndex>, std::size_t> sending;
  std::map<std::pair<HostIndex, ConnectionIndex>, std::size_t> receiving;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  std::map<HostIndex, std::deque<Completion>> due;
  std::uint64_t events_made = 0;

  Port& port(Nic nic) {
    return ports.try_emplace(nic, Port{.send_rate = options.rate, .receive_rate = options.rate})
        .first->second;
  }

  void push(Event event) {
    event.order = events_made++;
    events.push(event);
  }

  Duration jitter() {
    if (options.jitter == Duration::zero()) return Duration::zero();
    const double mean = static_cast<double>(options.jitter.count());
    return Duration{static_cast<std::int64_t>(-std::log(1 - random.fraction()) * mean)};
  }

  static Nic nic_of(const End& end) { return {end.host, end.spec->nic}; }

  void send(std::size_t index, const Request& request, Instant now) {
    Link& link = links[index];
    const Bytes bytes{request.bytes};
    Port& from = port(nic_of(link.sender));
    Instant begun = std::max(now, from.send_free);
    const Instant sent = begun + transmission_time(bytes, from.send_rate);
    from.send_free = sent;
    Instant last_byte = sent;
    Duration delay = options.latency + jitter();
    if (const auto found = wires.find({nic_of(link.sender), nic_of(link.receiver)});
        found != wires.end()) {
      Wire& wire = found->second;
      begun = std::max(begun, wire.free);
      last_byte = std::max(sent, begun + transmission_time(bytes, wire.rate));
      wire.free = last_byte;
      delay += wire.delay;
    }
    Completion completion{.kind = Completion::Kind::sent,
                          .connection = link.sender.spec->index,
                          .sequence = request.sequence,
                          .bytes = request.bytes};
    push({.time = sent,
          .link = index,
          .at_sender = true,
          .first_byte = {},
          .completion = completion});
    completion.kind = Completion::Kind::received;
    completion.connection = link.receiver.spec->index;
    link.last_arrival = std::max(link.last_arrival, last_byte + delay);
    push({.time = link.last_arrival,
          .link = index,
          .arrives = true,
          .first_byte = begun + delay,
          .completion = completion});
  }

  void arrive(Event event) {
    Port& to = port(nic_of(links[event.link].receiver));
    const Instant done =
        std::max(event.time, std::max(to.receive_free, event.first_byte) +
                                 transmission_time(Bytes{event.completion.bytes}, to.receive_rate));
    to.receive_free = done;
    event.arrives = false;
    event.time = done;
    push(event);
  }

  void release(std::size_t index, Instant now) {
    push({.time = now + options.latency,
          .link = index,
          .at_sender = true,
          .first_byte = {},
          .completion = {.kind = Completion::Kind::credit,
                         .connection = links[index].sender.spec->index}});
  }

  /// What is under way to or from this host is lost.
  void leave(HostIndex host) {
    for (Link& link : links)
      link.cut |= (link.sender.spec && link.sender.host == host) ||
                  (link.receiver.spec && link.receiver.host == host);
    due.erase(host);
    std::erase_if(sending, [&](const auto& entry) { return entry.first.first == host; });
    std::erase_if(receiving, [&](const auto& entry) { return entry.first.first == host; });
  }

  void run_until(Instant now) {
    while (!events.empty() && events.top().time <= now) {
      const Event event = events.top();
      events.pop();
      if (links[event.link].cut) continue;
      if (event.arrives) {
        arrive(event);
        continue;
      }
      const Link& link = links[event.link];
      due[event.at_sender ? link.sender.host : link.receiver.host].push_back(event.completion);
    }
  }
};

class NicTransport final : public replay::Transport {
 public:
  NicTransport(NicNetwork::State& network, HostIndex host) : network_(network), host_(host) {}
  ~NicTransport() override { network_.leave(host_); }

  replay::Capabilities capabilities() const override {
    return {.name = "simulated",
            .byte_source = "modelled",
            .message_bytes_max = std::numeric_limits<std::uint64_t>::max()};
  }

  Result<replay::Address> open(const ConnectionSpec& spec) override {
    const std::size_t index = network_.links.size();
    network_.links.push_back({.sender = {}, .receiver = {.host = host_, .spec = spec}});
    network_.receiving[{host_, spec.index}] = index;
    return std::to_string(index);
  }

  Result<void> connect(const ConnectionSpec& spec, const replay::Address& address) override {
    std::size_t index = 0;
    std::from_chars(address.data(), address.data() + address.size(), index);
    CHECK(index < network_.links.size(), "an address of this network");
    network_.links[index].sender = {.host = host_, .spec = spec};
    network_.sending[{host_, spec.index}] = index;
    for (const bool at_sender : {true, false}) {
      const auto& link = network_.links[index];
      network_.push(
          {.time = Instant::min(),
           .link = index,
           .at_sender = at_sender,
           .first_byte = {},
           .completion = {.kind = Completion::Kind::connected,
                          .connection = (at_sender ? link.sender : link.receiver).spec->index}});
    }
    return {};
  }

  std::size_t post(std::span<const Request> requests, Instant now) noexcept override {
    for (const Request& request : requests) {
      if (request.kind == Request::Kind::send) {
        network_.send(network_.sending.at({host_, request.connection}), request, now);
      } else {
        network_.release(network_.receiving.at({host_, request.connection}), now);
      }
    }
    return requests.size();
  }

  std::size_t poll(std::span<Completion> completions, Instant now) noexcept override {
    network_.run_until(now);
    std::deque<Completion>& due = network_.due[host_];
    const std::size_t count = std::min(completions.size(), due.size());
    for (std::size_t i = 0; i < count; ++i) {
      completions[i] = due.front();
      due.pop_front();
    }
    return count;
  }

  replay::Wakeup wakeup() const noexcept override {
    const auto due = network_.due.find(host_);
    if (due != network_.due.end() && !due->second.empty()) {
      return {.file_descriptor = -1, .deadline = Instant::min()};
    }
    return {.file_descriptor = -1,
            .deadline = network_.events.empty() ? kNever : network_.events.top().time};
  }

  void abort(ConnectionIndex) noexcept override {}

 private:
  NicNetwork::State& network_;
  HostIndex host_;
};

NicNetwork::NicNetwork(const Options& options) : state_(std::make_unique<State>()) {
  state_->options = options;
  state_->random = Random(options.seed);
}
NicNetwork::~NicNetwork() = default;

void NicNetwork::set_send_rate(Nic nic, BitRate rate) { state_->port(nic).send_rate = rate; }
void NicNetwork::set_receive_rate(Nic nic, BitRate rate) { state_->port(nic).receive_rate = rate; }
void NicNetwork::set_link(Nic source, Nic destination, BitRate rate, Duration delay) {
  State::Wire& wire = state_->wires[{source, destination}];
  wire.rate = rate;
  wire.delay = delay;
}

std::unique_ptr<replay::Transport> NicNetwork::transport(HostIndex host) {
  return std::make_unique<NicTransport>(*state_, host);
}

}  // namespace rehearsal::simulation
