#include "core/plan/choices.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "core/base/text.hpp"
#include "core/collective/expansion.hpp"
#include "core/collective/pair_channels.hpp"
#include "core/plan/placement.hpp"

namespace rehearsal::plan {
namespace {

using collective::Algorithm;
using collective::Choice;
using collective::Shape;
using profile::OpKind;

/// PyTorch's barrier on NCCL is an all_reduce of one float (docs/decisions/0005).
constexpr Bytes kBarrierBytes{4};

collective::Generation generation_of(fabric::Generation generation) {
  switch (generation) {
    case fabric::Generation::volta:
      return collective::Generation::volta;
    case fabric::Generation::ampere:
      return collective::Generation::ampere;
    case fabric::Generation::hopper:
      return collective::Generation::hopper;
    case fabric::Generation::blackwell:
      break;
  }
  return collective::Generation::blackwell;
}

collective::CpuVendor vendor_of(fabric::CpuVendor vendor) {
  switch (vendor) {
    case fabric::CpuVendor::intel:
      return collective::CpuVendor::intel;
    case fabric::CpuVendor::amd:
      return collective::CpuVendor::amd;
    case fabric::CpuVendor::arm:
      break;
  }
  return collective::CpuVendor::arm;
}

collective::Inside inside_of(fabric::Inside inside) {
  switch (inside) {
    case fabric::Inside::nvswitch:
      return collective::Inside::nvswitch;
    case fabric::Inside::nvlink:
      return collective::Inside::nvlink;
    case fabric::Inside::pcie:
      break;
  }
  return collective::Inside::pcie;
}

collective::PathKind path_of(fabric::Path path) {
  switch (path) {
    case fabric::Path::pix:
      return collective::PathKind::pix;
    case fabric::Path::pxb:
      return collective::PathKind::pxb;
    case fabric::Path::p2c:
      return collective::PathKind::p2c;
    case fabric::Path::phb:
    case fabric::Path::node:
      return collective::PathKind::phb;
    case fabric::Path::sys:
      break;
  }
  return collective::PathKind::sys;
}

/// What the model is asked about.
std::pair<OpKind, Bytes> asked(const profile::Op& op) {
  if (op.kind == OpKind::barrier) return {OpKind::all_reduce, kBarrierBytes};
  return {op.kind, op.bytes};
}

bool is_of_nccl(Algorithm algorithm) {
  return static_cast<std::size_t>(algorithm) < collective::Forced::kAlgorithmCount;
}

}  // namespace

bool goes_by_pairs(OpKind kind) {
  return kind == OpKind::all_to_all || kind == OpKind::gather || kind == OpKind::scatter ||
         profile::is_point_to_point(kind);
}

OpKey op_key(const profile::Op& op) {
  return {op.communicator, op.kind == OpKind::recv ? OpKind::send : op.kind, op.bytes,
          op.peer_bytes};
}
OpKey op_key(const OpChoice& choice) {
  return {choice.communicator, choice.kind, choice.bytes, choice.peer_bytes};
}

collective::System ChoiceMaker::system(const Shape& shape) const {
  collective::System system;
  system.generation = generation_of(node_.generation);
  system.cpu = vendor_of(node_.cpu);
  system.nodes = shape.nodes();
  system.ranks = shape.size();
  system.inside = inside_of(node_.inside);
  system.gpu_bandwidth =
      collective::counted_gpu_bandwidth(system.generation, system.inside, node_.inside_bandwidth);
  system.nics = static_cast<std::uint32_t>(shape.rails().size());
  const std::vector<std::uint32_t> rails = node_.rails();
  BitRate slowest{};
  Duration latency{0};
  for (const std::uint32_t rail : rails) {
    const fabric::Nic& nic = node_.nics[rail];
    if (slowest == BitRate{} || nic.rate < slowest) slowest = nic.rate;
    latency = std::max(latency, nic.latency);
  }
  system.nic_bandwidth = collective::counted_nic_bandwidth(slowest, node_.pcie);
  system.net_latency_us = to_seconds(latency) * 1e6;
  system.between_gpus =
      node_.inside == fabric::Inside::pcie ? collective::PathKind::phb : collective::PathKind::nvl;
  fabric::Path worst = fabric::Path::pix;
  for (const fabric::Gpu& gpu : node_.gpus) worst = std::max(worst, gpu.path);
  system.to_nic = path_of(worst);
  system.multicast =
      node_.generation >= fabric::Generation::hopper && node_.inside == fabric::Inside::nvswitch;
  return system;
}

Choice ChoiceMaker::of_pairs(const profile::Op& op, const Shape& shape) const {
  const collective::System known = system(shape);
  const collective::Graphs graphs = collective::derive_graphs(known);
  std::uint64_t rate = 0;
  for (const std::uint32_t rail : node_.rails())
    rate = std::max(rate, node_.nics[rail].rate.bits_per_second());
  const fabric::Usual usual = fabric::usual(node_.generation);
  const std::uint64_t link = std::max<std::uint64_t>(usual.nvlink_of_link.bits_per_second(), 1);
  const collective::PairLinks links{.channels = std::min(collective::channels(known, graphs),
                                                         forced_.nccl.channels_max.value_or(~0U)),
                                    .nics = 1,
                                    .nic_rate = BitRate{rate},
                                    .nvlink = node_.inside != fabric::Inside::pcie,
                                    .nvlinks = static_cast<std::uint32_t>(std::max<std::uint64_t>(
                                        node_.inside_bandwidth.bits_per_second() / link, 1))};
  Choice choice = collective::pair_choice(op, shape, links, settings_);
  if (forced_.point_to_point_channels)
    choice.channels = choice.channels_per_peer = *forced_.point_to_point_channels;
  return choice;
}

Result<Choice> ChoiceMaker::picked(const profile::Op& op, const Shape& shape) const {
  if (goes_by_pairs(op.kind)) return of_pairs(op, shape);
  const auto [kind, bytes] = asked(op);
  if (forced_.algorithm && !is_of_nccl(*forced_.algorithm) &&
      collective::can_expand(kind, *forced_.algorithm, shape)) {
    Choice choice = collective::default_choice(op, settings_);
    choice.algorithm = *forced_.algorithm;
    choice.slices_per_chunk = 1;
    return choice;
  }
  return collective::choose(kind, bytes, system(shape), forced_.nccl);
}

Result<Choice> ChoiceMaker::choose(const profile::Op& op, const Shape& shape) const {
  if (shape.size() < 2) return collective::default_choice(op, settings_);
  ASSIGN_OR_RETURN(Choice choice, picked(op, shape));
  const bool pipeline = op.kind == OpKind::broadcast || op.kind == OpKind::reduce;
  if (!goes_by_pairs(op.kind)) {
    const auto chunk = pipeline ? forced_.pipeline_chunk : forced_.chunk;
    if (chunk) choice.chunk = *chunk;
    if (!pipeline && choice.algorithm == Algorithm::ring)
      choice.slices_per_chunk = forced_.slices_per_chunk.value_or(choice.slices_per_chunk);
  }
  choice.credits = forced_.credits.value_or(choice.credits);
  if (!collective::can_expand(op.kind, choice.algorithm, shape)) {
    return fail(ErrorCode::refused, ErrorSource::config,
                std::string(to_string(op.kind)) + " with " +
                    std::string(to_string(choice.algorithm)) + " on " +
                    std::to_string(shape.size()) +
                    " ranks cannot be replayed; choose another "
                    "algorithm with collectives: {algorithm: ring}");
  }
  if (choice.credits < choice.slices_per_chunk + 1) {
    return invalid("collectives.credits: is " + std::to_string(choice.credits) + " with " +
                   std::to_string(choice.slices_per_chunk) + " slices per chunk for " +
                   std::string(to_string(op.kind)) + "; expected at least " +
                   std::to_string(choice.slices_per_chunk + 1));
  }
  return choice;
}

std::vector<collective::Candidate> ChoiceMaker::candidates(const profile::Op& op,
                                                           const Shape& shape) const {
  if (shape.size() < 2) return {};
  const auto [kind, bytes] = asked(op);
  return collective::candidates(kind, bytes, system(shape), forced_.nccl);
}

Result<std::vector<OpChoice>> choose_all(const Plan& plan, JobIndex job, const ChoiceMaker& maker) {
  std::map<OpKey, const profile::Op*> ops;
  const profile::Profile& profile = *plan.jobs[job.value].profile;
  for (const profile::RankClass& rank_class : profile.classes)
    for (const profile::Op& op : rank_class.ops)
      if (profile::is_communication(op.kind)) ops.emplace(op_key(op), &op);
  Shapes shapes{plan, job};
  std::vector<OpChoice> choices;
  for (const auto& [key, op] : ops) {
    const auto choice = maker.choose(*op, shapes.of(op->communicator));
    if (!choice) {
      return Failure{choice.error().within(
          "communicator " + in_quotes(profile.communicators[op->communicator.value].name))};
    }
    const auto& [communicator, kind, bytes, peer_bytes] = key;
    choices.push_back({communicator, kind, bytes, peer_bytes, *choice});
  }
  return choices;
}

}  // namespace rehearsal::plan
