// How planned faults stand in a plan's bytes.

#include <limits>

#include "core/fault/fault_codec.hpp"
#include "core/plan/checks.hpp"
#include "core/plan/plan_faults.hpp"
#include "core/plan/traffic_faults.hpp"

namespace rehearsal::plan {
namespace {

using fault::Level;
using fault::Place;
using fault::PlannedFault;

constexpr std::size_t kPlacesMax = std::size_t{1} << 20;
constexpr std::uint32_t kIndexMax = std::numeric_limits<std::uint32_t>::max() - 1;

void write(Encoder& encoder, Duration duration) {
  encoder.number(static_cast<std::uint64_t>(duration.count()));
}

// Nothing is zero, a value one more than it is.
void write(Encoder& encoder, const std::optional<std::uint32_t>& value) {
  encoder.number(value ? *value + std::uint64_t{1} : 0);
}

template <typename Index>
void write(Encoder& encoder, const std::optional<Index>& index) {
  encoder.number(index ? index->value + std::uint64_t{1} : 0);
}

void write(Encoder& encoder, const fault::What& what) {
  encoder.number(static_cast<std::uint64_t>(what.kind));
  encoder.number(what.levels.size());
  for (const Level& level : what.levels) {
    encoder.number(level.rate.millionths);
    write(encoder, level.delay);
    encoder.number(level.share.millionths);
    encoder.number(level.compute.millionths);
    encoder.number(level.mtu);
  }
  encoder.number(what.of.bits_per_second());
  write(encoder, what.jitter);
  write(encoder, what.retransmission);
  if (what.kind == fault::Kind::flow_control)
    for (const Level& level : what.levels) encoder.number(level.pause_frames ? 1 : 0);
  if (what.kind == fault::Kind::external) {
    fault::encode(encoder, what.call);
    write(encoder, what.command_time);
  }
  if (!fault::makes_traffic(what.kind)) return;
  encoder.number(what.message.count());
  encoder.number(what.credits);
  for (const Level& level : what.levels) encoder.number(level.traffic.bits_per_second());
}

void write(Encoder& encoder, const fault::When& when) {
  write(encoder, when.iteration);
  encoder.text(when.phase);
  write(encoder, when.after);
  write(encoder, when.length);
  encoder.number(when.iterations);
  write(encoder, when.on);
  write(encoder, when.off);
  encoder.number(when.on_iterations);
  encoder.number(when.off_iterations);
}

void write(Encoder& encoder, const Place& place) {
  encoder.number(place.host.value);
  encoder.number(static_cast<std::uint64_t>(place.side));
  write(encoder, place.nic);
  write(encoder, place.job);
  write(encoder, place.rank);
  write(encoder, place.communicator);
  write(encoder, place.peer);
}

class Reader {
 public:
  Reader(Decoder& decoder, const Plan& plan) : decoder_(decoder), plan_(plan) {}

  Result<PlannedFault> fault() {
    PlannedFault fault;
    ASSIGN_OR_RETURN(fault.name, decoder_.text(kNameMax));
    ASSIGN_OR_RETURN(fault.what, what());
    ASSIGN_OR_RETURN(fault.when, when());
    ASSIGN_OR_RETURN(fault.phase, number("a phase"));
    RETURN_IF_ERROR(index(fault.job, plan_.jobs.size(), "a job"));
    ASSIGN_OR_RETURN(
        const std::uint64_t mechanism,
        decoder_.number_up_to(static_cast<std::uint64_t>(fault::kMechanismLast), "a mechanism"));
    fault.mechanism = static_cast<fault::Mechanism>(mechanism);
    ASSIGN_OR_RETURN(fault.seed, decoder_.number());
    ASSIGN_OR_RETURN(const std::size_t places, decoder_.count(7, "places"));
    if (places == 0 || places > kPlacesMax) return invalid("a fault without a place");
    for (std::size_t i = 0; i < places; ++i) {
      ASSIGN_OR_RETURN(fault.places.emplace_back(), place());
    }
    RETURN_IF_ERROR(check_all(fault));
    if (fault.mechanism == fault::Mechanism::device && fault.what.kind != fault::Kind::rate)
      return invalid("a fault that no device can do");
    if (fault::makes_traffic(fault.what.kind)) RETURN_IF_ERROR(check_traffic(plan_, fault));
    return fault;
  }

 private:
  Result<std::uint32_t> number(std::string_view what) {
    ASSIGN_OR_RETURN(const std::uint64_t value, decoder_.number_up_to(kIndexMax, what));
    return static_cast<std::uint32_t>(value);
  }

  Result<Duration> duration() {
    ASSIGN_OR_RETURN(const std::uint64_t value,
                     decoder_.number_up_to(static_cast<std::uint64_t>(fault::kLengthMax.count()),
                                           "a duration of a fault"));
    return Duration{static_cast<Duration::rep>(value)};
  }

  template <typename Index>
  Result<void> index(std::optional<Index>& target, std::size_t count, std::string_view what) {
    ASSIGN_OR_RETURN(const std::uint64_t value, decoder_.number_up_to(count, what));
    if (value != 0) target = Index{static_cast<std::uint32_t>(value - 1)};
    return {};
  }

  Result<fault::What> what() {
    fault::What what;
    ASSIGN_OR_RETURN(
        const std::uint64_t kind,
        decoder_.number_up_to(static_cast<std::uint64_t>(fault::kKindLast), "a kind of fault"));
    what.kind = static_cast<fault::Kind>(kind);
    ASSIGN_OR_RETURN(const std::size_t levels, decoder_.count(5, "levels"));
    for (std::size_t i = 0; i < levels && i <= fault::kLevelsMax; ++i) {
      Level& level = what.levels.emplace_back();
      ASSIGN_OR_RETURN(level.rate.millionths, number("a rate"));
      ASSIGN_OR_RETURN(level.delay, duration());
      ASSIGN_OR_RETURN(level.share.millionths, number("a share"));
      ASSIGN_OR_RETURN(level.compute.millionths, number("a factor"));
      ASSIGN_OR_RETURN(level.mtu, number("an MTU"));
    }
    ASSIGN_OR_RETURN(const std::uint64_t of, decoder_.number());
    what.of = BitRate{of};
    ASSIGN_OR_RETURN(what.jitter, duration());
    ASSIGN_OR_RETURN(what.retransmission, duration());
    if (what.kind == fault::Kind::flow_control) RETURN_IF_ERROR(pause_frames(what));
    if (what.kind == fault::Kind::external) {
      ASSIGN_OR_RETURN(what.call, fault::decode_call(decoder_));
      ASSIGN_OR_RETURN(what.command_time, duration());
    }
    if (fault::makes_traffic(what.kind)) RETURN_IF_ERROR(traffic(what));
    return what;
  }

  Result<void> pause_frames(fault::What& what) {
    for (Level& level : what.levels) {
      ASSIGN_OR_RETURN(const std::uint64_t on, decoder_.number_up_to(1, "a switch"));
      level.pause_frames = on == 1;
    }
    return {};
  }

  Result<void> traffic(fault::What& what) {
    ASSIGN_OR_RETURN(const std::uint64_t message, decoder_.number());
    what.message = Bytes{message};
    ASSIGN_OR_RETURN(what.credits, number("credits"));
    for (Level& level : what.levels) {
      ASSIGN_OR_RETURN(const std::uint64_t rate, decoder_.number());
      level.traffic = BitRate{rate};
    }
    return {};
  }

  Result<fault::When> when() {
    fault::When when;
    ASSIGN_OR_RETURN(const std::uint64_t iteration,
                     decoder_.number_up_to(kIterationsMax, "an iteration"));
    if (iteration != 0) when.iteration = static_cast<std::uint32_t>(iteration - 1);
    ASSIGN_OR_RETURN(when.phase, decoder_.text(kPhaseMax));
    ASSIGN_OR_RETURN(when.after, duration());
    ASSIGN_OR_RETURN(when.length, duration());
    ASSIGN_OR_RETURN(when.iterations, number("iterations"));
    ASSIGN_OR_RETURN(when.on, duration());
    ASSIGN_OR_RETURN(when.off, duration());
    ASSIGN_OR_RETURN(when.on_iterations, number("iterations"));
    ASSIGN_OR_RETURN(when.off_iterations, number("iterations"));
    return when;
  }

  Result<Place> place() {
    Place place;
    ASSIGN_OR_RETURN(place.host.value, number("a host"));
    if (place.host.value >= plan_.hosts.size()) return invalid("a fault on a host not there");
    ASSIGN_OR_RETURN(const std::uint64_t side,
                     decoder_.number_up_to(static_cast<std::uint64_t>(fault::kSideLast), "a side"));
    place.side = static_cast<fault::Side>(side);
    RETURN_IF_ERROR(
        index(place.nic, plan_.hosts[place.host.value].nics.size(), "the NIC of a fault"));
    RETURN_IF_ERROR(index(place.job, plan_.jobs.size(), "the job of a fault"));
    const bool of_job = place.job.has_value();
    const profile::Profile* profile = of_job ? plan_.jobs[place.job->value].profile.get() : nullptr;
    RETURN_IF_ERROR(index(place.rank, of_job ? profile->ranks : 0, "the rank of a fault"));
    RETURN_IF_ERROR(index(place.communicator, of_job ? profile->communicators.size() : 0,
                          "the communicator of a fault"));
    RETURN_IF_ERROR(index(place.peer, plan_.hosts.size(), "the peer of a fault"));
    return place;
  }

  // As a drill's, so that a plan that was decoded can be run.
  static Result<void> check_all(const PlannedFault& fault) {
    const fault::Fault as_written{
        .name = fault.name, .what = fault.what, .when = fault.when, .mechanism = fault.mechanism};
    std::optional<Wrong> found = check(as_written);
    if (!found) found = check(fault.what);
    if (!found) found = check(fault.when);
    if (!found) return {};
    return invalid("fault " + fault.name + ": " + std::string(found->key) + ": " + found->what +
                   "; " + found->right);
  }

  static constexpr std::size_t kPhaseMax = 1024;

  Decoder& decoder_;
  const Plan& plan_;
};

}  // namespace

void write_faults(Encoder& encoder, const std::vector<PlannedFault>& faults) {
  encoder.number(faults.size());
  for (const PlannedFault& fault : faults) {
    encoder.text(fault.name);
    write(encoder, fault.what);
    write(encoder, fault.when);
    encoder.number(fault.phase);
    write(encoder, fault.job);
    encoder.number(static_cast<std::uint64_t>(fault.mechanism));
    encoder.number(fault.seed);
    encoder.number(fault.places.size());
    for (const Place& place : fault.places) write(encoder, place);
  }
}

Result<std::vector<PlannedFault>> read_faults(Decoder& decoder, const Plan& plan) {
  ASSIGN_OR_RETURN(const std::uint64_t count, decoder.number_up_to(kFaultsMax, "faults"));
  std::vector<PlannedFault> faults;
  for (std::uint64_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(faults.emplace_back(), Reader(decoder, plan).fault());
  }
  return faults;
}

}  // namespace rehearsal::plan
