#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/profile/op.hpp"

namespace rehearsal::profile {

/// An ordered list of ranks; the position in it is what algorithms count with (NCCL, MPI).
struct Communicator {
  std::string name;
  std::vector<Rank> ranks;

  std::uint32_t size() const { return static_cast<std::uint32_t>(ranks.size()); }
  /// Position of `rank`, or size() if it is no member.
  std::uint32_t position(Rank rank) const;

  bool operator==(const Communicator&) const = default;
};

/// The sizes of an all_to_all with per-peer sizes: bytes[i * size + j] is what position i of the
/// communicator sends to position j.
struct PeerBytes {
  std::string name;
  std::uint32_t size = 0;
  std::vector<Bytes> bytes;

  Bytes from_to(std::uint32_t source, std::uint32_t destination) const {
    return bytes[std::size_t{source} * size + destination];
  }
  /// What position `source` sends to all, itself included.
  Bytes sent_by(std::uint32_t source) const;
  /// What position `destination` receives from all, itself included.
  Bytes received_by(std::uint32_t destination) const;

  bool operator==(const PeerBytes&) const = default;
};

/// Ranks that do the same, and what they do in one steady iteration.
struct RankClass {
  std::string name;
  std::vector<Rank> ranks;  ///< ascending
  std::vector<Op> ops;      ///< an order that respects `after`

  bool operator==(const RankClass&) const = default;
};

/// Where a profile came from. Not part of its identity.
struct Provenance {
  struct Source {
    std::string file;    ///< base name, never a path of the importing machine
    std::string sha256;  ///< of the file's bytes as read
    bool operator==(const Source&) const = default;
  };
  std::string format;    ///< "kineto + pytorch execution trace 1.0.1"
  std::string importer;  ///< name and version of the importer
  std::string note;      ///< licence, what was left out, what was inferred
  std::vector<Source> sources;
  bool operator==(const Provenance&) const = default;
};

/// What one job does in one steady iteration.
struct Profile {
  std::string name;
  std::uint32_t ranks = 0;
  std::vector<std::string> streams;
  std::vector<std::string>
      phases;  ///< in order; never empty after validation (default "iteration")
  std::vector<Communicator> communicators;
  std::vector<PeerBytes> peer_bytes;
  std::vector<RankClass> classes;
  Provenance provenance;

  /// The class of `rank`; every rank of a valid profile has one.
  const RankClass& class_of(Rank rank) const;

  bool operator==(const Profile&) const = default;
};

/// Everything wrong with a profile, one line each ("class 'all', op 3 (all_reduce): …, …").
/// Empty means valid: every rank in just one class, indices in range, `after` only backwards (so no
/// cycle), all ranks of a communicator issue the same collectives in the same order with the same
/// sizes and roots, every send has its recv.
std::vector<std::string> problems(const Profile& profile);

/// sha256 over our own ordered encoding of the content, provenance and the profile's name left out:
/// a name is what a file is called, not what the job does.
std::string identity(const Profile& profile);

}  // namespace rehearsal::profile
