#include "core/import/agreement.hpp"

namespace rehearsal::importer {
namespace {

using profile::Op;
using profile::OpKind;
using profile::PeerBytes;

/// One collective over all ranks, with its error texts.
class Instance {
 public:
  Instance(const std::vector<RankCommunication>& ranks, std::size_t number)
      : ranks_(ranks), number_(number) {}

  std::size_t size() const { return ranks_.size(); }
  const CapturedCollective& of(std::size_t rank) const { return ranks_[rank].collectives[number_]; }

  Failure wrong(std::size_t rank, const std::string& what) const {
    return invalid("rank " + std::to_string(rank) + " (" + ranks_[rank].file + "), communication " +
                   std::to_string(number_) + ": " + what);
  }

  Result<void> same_kind() const {
    for (std::size_t rank = 1; rank < size(); ++rank) {
      if (of(rank).kind != of(0).kind || of(rank).element_bytes != of(0).element_bytes) {
        return wrong(rank, of(rank).text() + ", where rank 0 has " + of(0).text());
      }
    }
    return {};
  }

  Result<Bytes> same_size() const {
    for (std::size_t rank = 1; rank < size(); ++rank) {
      if (of(rank).input_bytes() != of(0).input_bytes()) {
        return wrong(rank, of(rank).text() + ", where rank 0 has " + of(0).text() +
                               "; all ranks must have the same size");
      }
    }
    return of(0).input_bytes();
  }

 private:
  const std::vector<RankCommunication>& ranks_;
  std::size_t number_;
};

Result<PeerBytes> peer_bytes(const Instance& instance) {
  const std::size_t n = instance.size();
  PeerBytes matrix;
  matrix.size = static_cast<std::uint32_t>(n);
  for (std::size_t from = 0; from < n; ++from) {
    const CapturedCollective& sender = instance.of(from);
    if (sender.sends.size() != n || sender.recvs.size() != n) {
      return instance.wrong(from, std::to_string(sender.sends.size()) + " input and " +
                                      std::to_string(sender.recvs.size()) + " output splits; " +
                                      std::to_string(n) + " ranks need as many of each");
    }
    for (std::size_t to = 0; to < n; ++to) {
      const CapturedCollective& receiver = instance.of(to);
      if (receiver.recvs.size() == n && receiver.recvs[from] != sender.sends[to]) {
        return instance.wrong(from, "sends " + std::to_string(sender.sends[to]) +
                                        " elements to rank " + std::to_string(to) +
                                        ", which receives " + std::to_string(receiver.recvs[from]));
      }
      matrix.bytes.emplace_back(sender.sends[to] * sender.element_bytes);
    }
  }
  return matrix;
}

bool has_splits(const Instance& instance) {
  for (std::size_t rank = 0; rank < instance.size(); ++rank) {
    if (!instance.of(rank).sends.empty()) return true;
  }
  return false;
}

Result<Bytes> all_to_all_size(const Instance& instance) {
  const Result<Bytes> size = instance.same_size();
  if (size) return size;
  return Failure{size.error().within(
      "an all_to_all of unequal sizes needs its splits: import the execution traces too")};
}

/// The ranks' inputs make up the full array.
Result<Bytes> sum_of_inputs(const Instance& instance) {
  ASSIGN_OR_RETURN(const Bytes one, instance.same_size());
  return one * instance.size();
}

/// scatter: only the root has an input.
void fill_scatter(const Instance& instance, Op& op) {
  for (std::uint32_t rank = 0; rank < instance.size(); ++rank) {
    if (instance.of(rank).input_bytes() <= op.bytes) continue;
    op.bytes = instance.of(rank).input_bytes();
    op.peer = rank;
  }
}

Result<void> fill_size(const Instance& instance, profile::Profile& profile, Op& op) {
  switch (op.kind) {
    case OpKind::all_to_all: {
      if (!has_splits(instance)) {
        ASSIGN_OR_RETURN(op.bytes, all_to_all_size(instance));
        return {};
      }
      ASSIGN_OR_RETURN(PeerBytes matrix, peer_bytes(instance));
      matrix.name = op.name;
      op.peer_bytes = static_cast<std::uint32_t>(profile.peer_bytes.size());
      profile.peer_bytes.push_back(std::move(matrix));
      return {};
    }
    case OpKind::all_gather:
    case OpKind::gather: {
      ASSIGN_OR_RETURN(op.bytes, sum_of_inputs(instance));
      return {};
    }
    case OpKind::scatter:
      fill_scatter(instance, op);
      return {};
    case OpKind::barrier:
      return {};
    default: {
      ASSIGN_OR_RETURN(op.bytes, instance.same_size());
      return {};
    }
  }
}

}  // namespace

Result<Op> agree(const std::vector<RankCommunication>& ranks, std::size_t number,
                 profile::Profile& profile) {
  const Instance instance(ranks, number);
  RETURN_IF_ERROR(instance.same_kind());
  Op op;
  op.kind = instance.of(0).kind;
  op.name = std::to_string(number) + " " + instance.of(0).text();
  RETURN_IF_ERROR(fill_size(instance, profile, op));
  return op;
}

}  // namespace rehearsal::importer
