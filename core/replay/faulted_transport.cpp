#include "core/replay/faulted_transport.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/plan/fault_places.hpp"
#include "core/replay/schedule_entries.hpp"

namespace rehearsal::replay {
namespace {

constexpr std::uint32_t kNone = fault::Schedule::kOff;

using fault::Kind;

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014): a
/// number for each message without a state to keep.
constexpr std::uint64_t mix(std::uint64_t value) noexcept {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

std::uint64_t identity_of(const plan::ConnectionKey& key, bool out) noexcept {
  std::uint64_t identity = out ? 1 : 0;
  for (const std::uint64_t part :
       {std::uint64_t{key.job.value}, std::uint64_t{key.communicator.value},
        std::uint64_t{key.source.value}, std::uint64_t{key.destination.value},
        std::uint64_t{key.channel}, static_cast<std::uint64_t>(key.use)})
    identity = mix(identity ^ part);
  return identity;
}

bool acts_on_messages(const fault::PlannedFault& fault) {
  return fault.mechanism == fault::Mechanism::sender && fault::is_of_messages(fault.what.kind);
}

/// The rate that a fault's levels are parts of.
BitRate full_rate(const fault::PlannedFault& fault, const plan::Nic& nic) noexcept {
  return fault.what.of.bits_per_second() != 0 ? fault.what.of : nic.line_rate;
}

}  // namespace

bool FaultedTransport::needed(const plan::Plan& plan, HostIndex host) {
  return !schedule_entries(plan, host, acts_on_messages).empty();
}

FaultedTransport::FaultedTransport(std::unique_ptr<Transport> inner, const plan::Plan& plan,
                                   HostIndex host)
    : inner_(std::move(inner)),
      plan_(plan),
      host_(host),
      schedule_(schedule_entries(plan, host, acts_on_messages)) {
  for (std::size_t i = 0; i < schedule_.size(); ++i)
    counts_.push_back({.fault = schedule_.entry(i).fault});
}

FaultedTransport::~FaultedTransport() = default;

const fault::PlannedFault& FaultedTransport::fault_of(std::uint32_t entry) const noexcept {
  return plan_.faults[schedule_.entry(entry).fault];
}

// --- set-up ------------------------------------------------------------------------------------

Result<Address> FaultedTransport::open(const ConnectionSpec& spec) {
  ASSIGN_OR_RETURN(Address address, inner_->open(spec));
  add_way(spec, false);
  return address;
}

Result<void> FaultedTransport::connect(const ConnectionSpec& spec, const Address& address) {
  RETURN_IF_ERROR(inner_->connect(spec, address));
  add_way(spec, true);
  return {};
}

void FaultedTransport::add_way(const ConnectionSpec& spec, bool out) {
  Way way{.connection = spec.index, .out = out, .identity = identity_of(spec.key, out)};
  way.hits_begin = static_cast<std::uint32_t>(hits_.size());
  for (std::uint32_t entry = 0; entry < schedule_.size(); ++entry) {
    const auto& places = fault_of(entry).places;
    const auto means_it = [&](const fault::Place& place) {
      return plan::concerns(plan_, place, host_, spec, out);
    };
    if (std::ranges::none_of(places, means_it)) continue;
    const bool rate = fault_of(entry).what.kind == Kind::rate;
    hits_.push_back({entry, rate ? bucket_of(entry, spec.nic, out) : 0});
  }
  way.hits_end = static_cast<std::uint32_t>(hits_.size());
  if (way.hits_begin == way.hits_end) return;
  way.held_begin = static_cast<std::uint32_t>(held_.size());
  way.held_max = spec.credits;
  held_.resize(held_.size() + spec.credits);
  if (way_of_.size() <= spec.index.value) way_of_.resize(std::size_t{spec.index.value} + 1, kNone);
  way_of_[spec.index.value] = static_cast<std::uint32_t>(ways_.size());
  ways_.push_back(way);
  active_.reserve(ways_.size());
}

std::uint32_t FaultedTransport::bucket_of(std::uint32_t entry, NicIndex nic, bool out) {
  for (std::uint32_t i = 0; i < buckets_.size(); ++i)
    if (buckets_[i].entry == entry && buckets_[i].nic == nic && buckets_[i].out == out) return i;
  buckets_.push_back({.entry = entry, .nic = nic, .out = out});
  return static_cast<std::uint32_t>(buckets_.size() - 1);
}

// --- data path ---------------------------------------------------------------------------------

std::size_t FaultedTransport::post(std::span<const Request> requests, Instant now) noexcept {
  schedule_.at(now);
  std::size_t accepted = 0;
  while (accepted < requests.size()) {
    const auto held_back = [&](const Request& request) {
      return request.kind == Request::Kind::send && request.connection.value < way_of_.size() &&
             way_of_[request.connection.value] != kNone;
    };
    const Request& request = requests[accepted];
    if (held_back(request)) {
      hold(ways_[way_of_[request.connection.value]], request.sequence, request.bytes, now);
      ++accepted;
      continue;
    }
    std::size_t end = accepted + 1;
    while (end < requests.size() && !held_back(requests[end])) ++end;
    const std::size_t taken = inner_->post(requests.subspan(accepted, end - accepted), now);
    accepted += taken;
    if (accepted < end) break;
  }
  send_due(now);
  return accepted;
}

std::size_t FaultedTransport::poll(std::span<Completion> completions, Instant now) noexcept {
  schedule_.at(now);
  send_due(now);
  std::size_t count = deliver_due(completions, now);
  while (count < completions.size()) {
    const auto room = completions.subspan(count);
    const std::size_t came = inner_->poll(room, now);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < came; ++i) {
      const Completion completion = room[i];
      const std::uint32_t index = completion.connection.value < way_of_.size()
                                      ? way_of_[completion.connection.value]
                                      : kNone;
      if (completion.kind == Completion::Kind::received && index != kNone)
        hold(ways_[index], completion.sequence, completion.bytes, now);
      else
        room[kept++] = completion;
    }
    count += kept;
    count += deliver_due(completions.subspan(count), now);
    if (came < room.size()) break;
  }
  forget_idle();
  return count;
}

void FaultedTransport::hold(Way& way, std::uint64_t sequence, std::uint64_t bytes,
                            Instant now) noexcept {
  CHECK(way.count < way.held_max, "more messages than credits allow");
  way.last_release = std::max(way.last_release, release_of(way, sequence, bytes, now));
  held_[way.held_begin + (way.first + way.count) % way.held_max] = {way.last_release, sequence,
                                                                    bytes};
  ++way.count;
  if (way.active) return;
  way.active = true;
  active_.push_back(static_cast<std::uint32_t>(&way - ways_.data()));
}

/// When a message may pass a NIC's side that has a part of its rate left.
Instant FaultedTransport::through(Bucket& bucket, std::uint64_t bytes, Instant now) noexcept {
  const fault::PlannedFault& fault = fault_of(bucket.entry);
  const BitRate full = full_rate(fault, plan_.hosts[host_.value].nics[bucket.nic.value]);
  const fault::Level& level = fault.what.levels[schedule_.level(bucket.entry)];
  const BitRate left{
      std::max<std::uint64_t>(fault::part_of(full.bits_per_second(), level.rate), 1)};
  const Duration at_full = transmission_time(Bytes{bytes}, full);
  // What arrives has begun to arrive a transmission ago; what leaves has one still before it.
  const Instant begin = std::max(bucket.out ? now : now - at_full, bucket.free);
  bucket.free = begin + transmission_time(Bytes{bytes}, left);
  return std::max(now, bucket.out ? bucket.free - at_full : bucket.free);
}

Instant FaultedTransport::release_of(const Way& way, std::uint64_t sequence, std::uint64_t bytes,
                                     Instant now) noexcept {
  Instant passed = now;
  Duration later{0};
  for (std::uint32_t i = way.hits_begin; i < way.hits_end; ++i) {
    const Hit& hit = hits_[i];
    const std::uint32_t at = schedule_.level(hit.entry);
    if (at == fault::Schedule::kOff) continue;
    const fault::PlannedFault& fault = fault_of(hit.entry);
    const fault::Level& level = fault.what.levels[at];
    const std::uint64_t drawn = mix(mix(fault.seed ^ way.identity) ^ sequence);
    FaultCount& count = counts_[hit.entry];
    ++count.messages;
    switch (fault.what.kind) {
      case Kind::rate: {
        const Instant released = through(buckets_[hit.bucket], bytes, now);
        if (released > now) ++count.hit;
        passed = std::max(passed, released);
        break;
      }
      case Kind::delay: {
        const auto jitter = static_cast<std::uint64_t>(fault.what.jitter.count());
        later += level.delay;
        if (jitter > 0) later += Duration{static_cast<Duration::rep>(drawn % (jitter + 1))};
        ++count.hit;
        break;
      }
      case Kind::loss:
        if (drawn % fault::Fraction::kWhole >= level.share.millionths) break;
        later += fault.what.retransmission;
        ++count.hit;
        break;
      default:  // blackhole: blocked() holds the whole way
        ++count.hit;
        break;
    }
  }
  return passed + later;
}

bool FaultedTransport::blocked(const Way& way) const noexcept {
  for (std::uint32_t i = way.hits_begin; i < way.hits_end; ++i)
    if (schedule_.level(hits_[i].entry) != fault::Schedule::kOff &&
        fault_of(hits_[i].entry).what.kind == Kind::blackhole)
      return true;
  return false;
}

const FaultedTransport::Held& FaultedTransport::front(const Way& way) const noexcept {
  return held_[way.held_begin + way.first % way.held_max];
}

void FaultedTransport::pop(Way& way) noexcept {
  ++way.first;
  --way.count;
}

bool FaultedTransport::due(const Way& way, Instant now) const noexcept {
  return way.count > 0 && front(way).release <= now && !blocked(way);
}

void FaultedTransport::send_due(Instant now) noexcept {
  for (const std::uint32_t index : active_) {
    Way& way = ways_[index];
    way.refused = false;
    while (way.out && due(way, now)) {
      const Held& held = front(way);
      const Request request{.kind = Request::Kind::send,
                            .connection = way.connection,
                            .sequence = held.sequence,
                            .bytes = held.bytes};
      way.refused = inner_->post({&request, 1}, now) == 0;
      if (way.refused) break;
      pop(way);
    }
  }
}

std::size_t FaultedTransport::deliver_due(std::span<Completion> completions, Instant now) noexcept {
  std::size_t count = 0;
  for (const std::uint32_t index : active_) {
    Way& way = ways_[index];
    while (!way.out && count < completions.size() && due(way, now)) {
      const Held& held = front(way);
      completions[count++] = {.kind = Completion::Kind::received,
                              .connection = way.connection,
                              .sequence = held.sequence,
                              .bytes = held.bytes};
      pop(way);
    }
  }
  return count;
}

void FaultedTransport::forget_idle() noexcept {
  std::erase_if(active_, [this](std::uint32_t index) {
    ways_[index].active = ways_[index].count > 0;
    return !ways_[index].active;
  });
}

Wakeup FaultedTransport::wakeup() const noexcept {
  Wakeup wakeup = inner_->wakeup();
  wakeup.deadline = std::min(wakeup.deadline, schedule_.next_change());
  for (const std::uint32_t index : active_) {
    const Way& way = ways_[index];
    if (way.count > 0 && !way.refused && !blocked(way))
      wakeup.deadline = std::min(wakeup.deadline, front(way).release);
  }
  return wakeup;
}

void FaultedTransport::abort(ConnectionIndex connection) noexcept {
  if (connection.value < way_of_.size() && way_of_[connection.value] != kNone) {
    Way& way = ways_[way_of_[connection.value]];
    way.first += way.count;
    way.count = 0;
  }
  inner_->abort(connection);
}

}  // namespace rehearsal::replay
