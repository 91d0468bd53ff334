#include "core/replay/memory_transport.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <tuple>

#include "core/base/check.hpp"

namespace rehearsal::replay {

namespace {

constexpr std::string_view kAddressPrefix = "memory:";
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// A completion that becomes due.
struct Event {
  Instant time;
  std::uint64_t order = 0;  // of events at the same time
  std::uint32_t link = 0;
  bool at_sender = false;
  Completion completion;
};

/// For std::push_heap: the earliest on top.
struct Later {
  bool operator()(const Event& a, const Event& b) const noexcept {
    return std::tie(a.time, a.order) > std::tie(b.time, b.order);
  }
};

}  // namespace

struct MemoryTransport::State {
  MemoryFabric::State* fabric = nullptr;
  std::vector<Event>
      events;  // a heap; room for all that can be under way, made by open and connect
  std::size_t events_max = 0;
  std::vector<std::uint32_t> sending;  // ConnectionIndex → link, where this is the source's agent
  std::vector<std::uint32_t> receiving;  // … the destination's

  void grow(std::size_t further_events) {
    events_max += further_events;
    if (events.capacity() < events_max) events.reserve(std::max(events_max, events.capacity() * 2));
  }
  static void assign(std::vector<std::uint32_t>& table, ConnectionIndex index, std::uint32_t link) {
    if (table.size() <= index.value) table.resize(std::size_t{index.value} + 1, kNone);
    table[index.value] = link;
  }
  static std::uint32_t find(const std::vector<std::uint32_t>& table,
                            ConnectionIndex index) noexcept {
    return index.value < table.size() ? table[index.value] : kNone;
  }
};

struct MemoryFabric::State {
  struct End {
    MemoryTransport::State* transport = nullptr;
    ConnectionSpec spec;
    bool open = false;
  };
  /// A connection.
  struct Link {
    End sender;
    End receiver;
    std::uint32_t path = 0;
    std::uint32_t credits = 0;
    std::uint64_t next_send = 0;
    std::uint64_t next_release = 0;
  };
  using PathKey = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;

  Options options;
  std::vector<Link> links;
  std::vector<Instant> path_free;  // when the path has sent all it was given
  std::map<PathKey, std::uint32_t> paths;
  std::uint64_t events_made = 0;
  Instant now = Instant::min();  // the latest seen

  std::uint32_t path_of(const Link& link, std::uint32_t index) {
    PathKey key{index, 0, 0, 0};
    const plan::ConnectionKey& name = link.sender.spec.key;
    if (options.sharing == Sharing::rank_pair)
      key = {name.job.value, name.source.value, name.destination.value, 0};
    if (options.sharing == Sharing::nic_pair)
      key = {reinterpret_cast<std::uintptr_t>(link.sender.transport), link.sender.spec.nic.value,
             reinterpret_cast<std::uintptr_t>(link.receiver.transport),
             link.receiver.spec.nic.value};
    const auto [found, added] =
        paths.try_emplace(key, static_cast<std::uint32_t>(path_free.size()));
    if (added) path_free.push_back(Instant::min());
    return found->second;
  }

  /// Completes at one end of a link, if that is still there.
  void push(std::uint32_t index, bool at_sender, Instant time, Completion completion) noexcept {
    End& end = at_sender ? links[index].sender : links[index].receiver;
    if (!end.open) return;
    completion.connection = end.spec.index;
    auto& events = end.transport->events;
    CHECK(events.size() < events.capacity(), "more events than credits allow");
    events.push_back({time, events_made++, index, at_sender, completion});
    std::push_heap(events.begin(), events.end(), Later{});
  }

  void send(std::uint32_t index, const Request& request) noexcept {
    Link& link = links[index];
    CHECK(request.sequence == link.next_send, "a send out of order");
    CHECK(request.bytes <= link.sender.spec.message_bytes_max, "a message over its size");
    CHECK(link.credits > 0, "a send without a credit");
    --link.credits;
    ++link.next_send;
    Instant& free = path_free[link.path];
    const Instant sent =
        std::max(free, now) + transmission_time(Bytes{request.bytes}, options.rate);
    free = sent;
    Completion completion{.kind = Completion::Kind::sent,
                          .connection = {},
                          .sequence = request.sequence,
                          .bytes = request.bytes};
    push(index, true, sent, completion);
    completion.kind = Completion::Kind::received;
    push(index, false, sent + options.latency, completion);
  }

  void release(std::uint32_t index, const Request& request) noexcept {
    Link& link = links[index];
    CHECK(request.sequence == link.next_release, "a release out of order");
    CHECK(request.sequence < link.next_send, "a release of what was never sent");
    ++link.next_release;
    ++link.credits;
    push(index, true, now + options.latency, {.kind = Completion::Kind::credit, .connection = {}});
  }

  void close(std::uint32_t index, bool at_sender) noexcept {
    Link& link = links[index];
    End& end = at_sender ? link.sender : link.receiver;
    if (!end.open) return;
    end.open = false;
    push(index, !at_sender, now + options.latency,
         {.kind = Completion::Kind::failed, .connection = {}, .reason = "closed by the other end"});
  }
};

MemoryFabric::MemoryFabric(const Options& options) : state_(std::make_unique<State>()) {
  state_->options = options;
}
MemoryFabric::~MemoryFabric() = default;

MemoryTransport::MemoryTransport(MemoryFabric& fabric) : state_(std::make_unique<State>()) {
  state_->fabric = fabric.state_.get();
}

MemoryTransport::~MemoryTransport() {
  for (const std::uint32_t link : state_->sending)
    if (link != kNone) state_->fabric->close(link, true);
  for (const std::uint32_t link : state_->receiving)
    if (link != kNone) state_->fabric->close(link, false);
}

Capabilities MemoryTransport::capabilities() const {
  return {.name = state_->fabric->options.name,
          .byte_source = "modelled",
          .message_bytes_max = std::numeric_limits<std::uint64_t>::max()};
}

Result<Address> MemoryTransport::open(const ConnectionSpec& spec) {
  auto& fabric = *state_->fabric;
  const auto index = static_cast<std::uint32_t>(fabric.links.size());
  MemoryFabric::State::Link link;
  link.receiver = {.transport = state_.get(), .spec = spec, .open = true};
  fabric.links.push_back(link);
  State::assign(state_->receiving, spec.index, index);
  state_->grow(std::size_t{spec.credits} + 2);  // messages; connected, failed
  return Address{kAddressPrefix} + std::to_string(index);
}

Result<void> MemoryTransport::connect(const ConnectionSpec& spec, const Address& address) {
  auto& fabric = *state_->fabric;
  std::uint32_t index = kNone;
  if (address.starts_with(kAddressPrefix))
    std::from_chars(address.data() + kAddressPrefix.size(), address.data() + address.size(), index);
  if (index >= fabric.links.size() || fabric.links[index].sender.transport != nullptr)
    return fail(ErrorCode::protocol, ErrorSource::transport,
                "address '" + address + "' is not one that awaits a connection here");
  auto& link = fabric.links[index];
  link.sender = {.transport = state_.get(), .spec = spec, .open = true};
  link.credits = spec.credits;
  link.path = fabric.path_of(link, index);
  State::assign(state_->sending, spec.index, index);
  state_->grow(std::size_t{spec.credits} * 2 + 2);  // sent, credit; connected, failed
  const Completion connected{.kind = Completion::Kind::connected, .connection = {}};
  fabric.push(index, true, fabric.now, connected);
  fabric.push(index, false, fabric.now, connected);
  if (!link.receiver.open) fabric.close(index, false);
  return {};
}

std::size_t MemoryTransport::post(std::span<const Request> requests, Instant now) noexcept {
  auto& fabric = *state_->fabric;
  fabric.now = std::max(fabric.now, now);
  for (const Request& request : requests) {
    const bool sends = request.kind == Request::Kind::send;
    const std::uint32_t link =
        State::find(sends ? state_->sending : state_->receiving, request.connection);
    CHECK(link != kNone, "a request on an unknown connection");
    const bool open = sends ? fabric.links[link].sender.open : fabric.links[link].receiver.open;
    if (!open) continue;
    sends ? fabric.send(link, request) : fabric.release(link, request);
  }
  return requests.size();
}

std::size_t MemoryTransport::poll(std::span<Completion> completions, Instant now) noexcept {
  auto& fabric = *state_->fabric;
  auto& events = state_->events;
  fabric.now = std::max(fabric.now, now);
  std::size_t count = 0;
  while (count < completions.size() && !events.empty() && events.front().time <= now) {
    const Event& event = events.front();
    const auto& link = fabric.links[event.link];
    if (event.at_sender ? link.sender.open : link.receiver.open)
      completions[count++] = event.completion;
    std::pop_heap(events.begin(), events.end(), Later{});
    events.pop_back();
  }
  return count;
}

Wakeup MemoryTransport::wakeup() const noexcept {
  return {.file_descriptor = -1,
          .deadline = state_->events.empty() ? kNever : state_->events.front().time};
}

void MemoryTransport::abort(ConnectionIndex connection) noexcept {
  const std::uint32_t sending = State::find(state_->sending, connection);
  const std::uint32_t receiving = State::find(state_->receiving, connection);
  if (sending != kNone) state_->fabric->close(sending, true);
  if (receiving != kNone) state_->fabric->close(receiving, false);
}

}  // namespace rehearsal::replay
