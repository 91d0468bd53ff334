#include "core/profile/binary.hpp"

#include "core/base/encoding.hpp"
#include "core/profile/limits.hpp"
#include "core/profile/rank_list.hpp"

namespace rehearsal::profile {
namespace {

constexpr std::string_view kMagic = "rehearsal-profile";
constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kDigestSize = 64;  // hexadecimal digits

// --- writing ---------------------------------------------------------------------------------

void encode_texts(Encoder& encoder, const std::vector<std::string>& texts) {
  encoder.number(texts.size());
  for (const std::string& text : texts) encoder.text(text);
}

void encode_ranks(Encoder& encoder, const std::vector<Rank>& ranks) {
  const std::vector<RankRun> runs = runs_of(ranks);
  encoder.number(runs.size());
  for (const RankRun& run : runs) {
    encoder.number(run.first);
    encoder.number(run.count);
  }
}

void encode_op(Encoder& encoder, const Op& op) {
  encoder.number(static_cast<std::uint64_t>(op.kind));
  encoder.text(op.name);
  encoder.number(op.stream);
  encoder.number(op.phase);
  encoder.number(op.after.size());
  for (const OpIndex index : op.after) encoder.number(index);
  if (op.kind == OpKind::compute) {
    encoder.number(static_cast<std::uint64_t>(op.duration.count()));
    return;
  }
  encoder.number(op.communicator.value);
  encoder.number(op.bytes.count());
  encoder.number(op.peer);
  encoder.number(op.peer_bytes ? std::uint64_t{*op.peer_bytes} + 1 : 0);
  encoder.number(static_cast<std::uint64_t>(op.captured.count()));
}

void encode_content(Encoder& encoder, const Profile& profile) {
  encoder.number(profile.ranks);
  encode_texts(encoder, profile.streams);
  encode_texts(encoder, profile.phases);
  encoder.number(profile.communicators.size());
  for (const Communicator& communicator : profile.communicators) {
    encoder.text(communicator.name);
    encode_ranks(encoder, communicator.ranks);
  }
  encoder.number(profile.peer_bytes.size());
  for (const PeerBytes& matrix : profile.peer_bytes) {
    encoder.text(matrix.name);
    encoder.number(matrix.size);
    for (const Bytes bytes : matrix.bytes) encoder.number(bytes.count());
  }
  encoder.number(profile.classes.size());
  for (const RankClass& rank_class : profile.classes) {
    encoder.text(rank_class.name);
    encode_ranks(encoder, rank_class.ranks);
    encoder.number(rank_class.ops.size());
    for (const Op& op : rank_class.ops) encode_op(encoder, op);
  }
}

void encode_provenance(Encoder& encoder, const Provenance& provenance) {
  encoder.text(provenance.format);
  encoder.text(provenance.importer);
  encoder.text(provenance.note);
  encoder.number(provenance.sources.size());
  for (const Provenance::Source& source : provenance.sources) {
    encoder.text(source.file);
    encoder.text(source.sha256);
  }
}

// --- reading ---------------------------------------------------------------------------------

// Reads one profile; `Budget` numbers count down over the whole of it.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : decoder_(bytes) {}

  Result<Profile> profile() {
    Profile profile;
    RETURN_IF_ERROR(header());
    RETURN_IF_ERROR(provenance(profile.provenance));
    ASSIGN_OR_RETURN(profile.name, decoder_.text(kNameBytesMax));
    ASSIGN_OR_RETURN(const std::uint64_t ranks, decoder_.number_up_to(kRanksMax, "the rank count"));
    profile.ranks = static_cast<std::uint32_t>(ranks);
    RETURN_IF_ERROR(texts(profile.streams, kStreamsMax, "streams"));
    RETURN_IF_ERROR(texts(profile.phases, kPhasesMax, "phases"));
    RETURN_IF_ERROR(communicators(profile));
    RETURN_IF_ERROR(matrices(profile));
    RETURN_IF_ERROR(classes(profile));
    if (decoder_.remaining() != 0) return wrong("there are bytes after the end of the profile");
    return profile;
  }

 private:
  Failure wrong(std::string what) const {
    return invalid("byte " + std::to_string(decoder_.offset()) + ": " + std::move(what));
  }

  Result<std::size_t> count(std::size_t element_size_min, std::size_t most, std::string_view what) {
    ASSIGN_OR_RETURN(const std::size_t found, decoder_.count(element_size_min, what));
    if (found > most) {
      return wrong(std::to_string(found) + " " + std::string(what) + ", at most " +
                   std::to_string(most) + " are possible");
    }
    return found;
  }

  Result<void> header() {
    ASSIGN_OR_RETURN(const std::string magic, decoder_.text(kMagic.size()));
    if (magic != kMagic) return wrong("this is no binary profile (the magic is missing)");
    ASSIGN_OR_RETURN(const std::uint64_t version, decoder_.number());
    if (version != kVersion) {
      return wrong("version " + std::to_string(version) +
                   " of the binary form; this program reads " + std::to_string(kVersion));
    }
    return {};
  }

  Result<void> provenance(Provenance& provenance) {
    ASSIGN_OR_RETURN(provenance.format, decoder_.text(kNameBytesMax));
    ASSIGN_OR_RETURN(provenance.importer, decoder_.text(kNameBytesMax));
    ASSIGN_OR_RETURN(provenance.note, decoder_.text(kTextBytesMax));
    ASSIGN_OR_RETURN(const std::size_t sources, count(2, kRanksMax * 4, "sources"));
    for (std::size_t i = 0; i < sources; ++i) {
      Provenance::Source source;
      ASSIGN_OR_RETURN(source.file, decoder_.text(kNameBytesMax));
      ASSIGN_OR_RETURN(source.sha256, decoder_.text(kNameBytesMax));
      provenance.sources.push_back(std::move(source));
    }
    return {};
  }

  Result<void> texts(std::vector<std::string>& texts, std::size_t most, std::string_view what) {
    ASSIGN_OR_RETURN(const std::size_t size, count(1, most, what));
    for (std::size_t i = 0; i < size; ++i) {
      ASSIGN_OR_RETURN(std::string text, decoder_.text(kNameBytesMax));
      texts.push_back(std::move(text));
    }
    return {};
  }

  Result<void> ranks(std::vector<Rank>& ranks) {
    ASSIGN_OR_RETURN(const std::size_t runs, count(2, kRankEntriesMax, "runs of ranks"));
    for (std::size_t i = 0; i < runs; ++i) {
      ASSIGN_OR_RETURN(const std::uint64_t first, decoder_.number_up_to(kRanksMax, "a rank"));
      ASSIGN_OR_RETURN(const std::uint64_t size,
                       decoder_.number_up_to(kRanksMax - first, "the length of a run of ranks"));
      if (size > rank_budget_) return wrong("more entries in lists of ranks than possible");
      rank_budget_ -= size;
      for (std::uint64_t k = 0; k < size; ++k) {
        ranks.push_back(Rank{static_cast<std::uint32_t>(first + k)});
      }
    }
    return {};
  }

  Result<void> communicators(Profile& profile) {
    ASSIGN_OR_RETURN(const std::size_t size, count(2, kCommunicatorsMax, "communicators"));
    for (std::size_t i = 0; i < size; ++i) {
      Communicator communicator;
      ASSIGN_OR_RETURN(communicator.name, decoder_.text(kNameBytesMax));
      RETURN_IF_ERROR(ranks(communicator.ranks));
      profile.communicators.push_back(std::move(communicator));
    }
    return {};
  }

  Result<void> matrices(Profile& profile) {
    ASSIGN_OR_RETURN(const std::size_t size, count(2, kOpsMax, "tables of per-peer sizes"));
    for (std::size_t i = 0; i < size; ++i) {
      PeerBytes matrix;
      ASSIGN_OR_RETURN(matrix.name, decoder_.text(kNameBytesMax));
      ASSIGN_OR_RETURN(const std::uint64_t side,
                       decoder_.number_up_to(kRanksMax, "a table's size"));
      const std::uint64_t entries = side * side;
      if (entries > peer_budget_ || entries > decoder_.remaining()) {
        return wrong("a table of per-peer sizes of " + std::to_string(side) +
                     " ranks is larger than the data");
      }
      peer_budget_ -= entries;
      matrix.size = static_cast<std::uint32_t>(side);
      matrix.bytes.reserve(entries);
      for (std::uint64_t k = 0; k < entries; ++k) {
        ASSIGN_OR_RETURN(const std::uint64_t bytes, decoder_.number_up_to(kOpBytesMax, "a size"));
        matrix.bytes.emplace_back(bytes);
      }
      profile.peer_bytes.push_back(std::move(matrix));
    }
    return {};
  }

  Result<void> classes(Profile& profile) {
    ASSIGN_OR_RETURN(const std::size_t size, count(3, kRanksMax, "rank classes"));
    for (std::size_t i = 0; i < size; ++i) {
      RankClass rank_class;
      ASSIGN_OR_RETURN(rank_class.name, decoder_.text(kNameBytesMax));
      RETURN_IF_ERROR(ranks(rank_class.ranks));
      ASSIGN_OR_RETURN(const std::size_t ops, count(6, op_budget_, "ops"));
      op_budget_ -= ops;
      for (std::size_t k = 0; k < ops; ++k) {
        ASSIGN_OR_RETURN(Op one, op());
        rank_class.ops.push_back(std::move(one));
      }
      profile.classes.push_back(std::move(rank_class));
    }
    return {};
  }

  Result<std::uint32_t> small(std::string_view what) {
    ASSIGN_OR_RETURN(const std::uint64_t value, decoder_.number_up_to(kOpsMax, what));
    return static_cast<std::uint32_t>(value);
  }

  Result<Duration> duration() {
    ASSIGN_OR_RETURN(const std::uint64_t nanoseconds,
                     decoder_.number_up_to(kDurationNanosecondsMax, "a duration in ns"));
    return Duration{static_cast<std::int64_t>(nanoseconds)};
  }

  Result<Op> op() {
    Op op;
    ASSIGN_OR_RETURN(const std::uint64_t kind,
                     decoder_.number_up_to(static_cast<std::uint64_t>(OpKind::barrier), "a kind"));
    op.kind = static_cast<OpKind>(kind);
    ASSIGN_OR_RETURN(op.name, decoder_.text(kNameBytesMax));
    ASSIGN_OR_RETURN(op.stream, small("a stream"));
    ASSIGN_OR_RETURN(op.phase, small("a phase"));
    ASSIGN_OR_RETURN(const std::size_t after, count(1, dependency_budget_, "dependencies"));
    dependency_budget_ -= after;
    for (std::size_t i = 0; i < after; ++i) {
      ASSIGN_OR_RETURN(const OpIndex index, small("a dependency"));
      op.after.push_back(index);
    }
    if (op.kind == OpKind::compute) {
      ASSIGN_OR_RETURN(op.duration, duration());
      return op;
    }
    ASSIGN_OR_RETURN(op.communicator.value, small("a communicator"));
    ASSIGN_OR_RETURN(const std::uint64_t bytes, decoder_.number_up_to(kOpBytesMax, "a size"));
    op.bytes = Bytes{bytes};
    ASSIGN_OR_RETURN(op.peer, small("a position"));
    ASSIGN_OR_RETURN(const std::uint32_t table, small("a table of per-peer sizes"));
    if (table != 0) op.peer_bytes = table - 1;
    ASSIGN_OR_RETURN(op.captured, duration());
    return op;
  }

  Decoder decoder_;
  std::size_t rank_budget_ = kRankEntriesMax;
  std::size_t peer_budget_ = kPeerEntriesMax;
  std::size_t op_budget_ = kOpsMax;
  std::size_t dependency_budget_ = kDependenciesMax;
};

}  // namespace

std::string to_binary(const Profile& profile) {
  Encoder encoder;
  encoder.text(kMagic);
  encoder.number(kVersion);
  encode_provenance(encoder, profile.provenance);
  encoder.text(profile.name);
  encode_content(encoder, profile);
  encoder.raw(sha256_hex(encoder.bytes()));
  return encoder.take();
}

Result<Profile> from_binary(std::string_view bytes) {
  if (bytes.size() > kBinaryBytesMax) {
    return fail(ErrorCode::too_large, ErrorSource::config,
                "byte " + std::to_string(kBinaryBytesMax) + ": the profile has " +
                    std::to_string(bytes.size()) + " bytes; at most 256 MiB are read");
  }
  if (bytes.size() < kDigestSize) {
    return invalid("byte " + std::to_string(bytes.size()) +
                   ": the data ends before the checksum (truncated?)");
  }
  const std::size_t end = bytes.size() - kDigestSize;
  Result<Profile> profile = Reader(bytes.substr(0, end)).profile();
  if (profile && sha256_hex(bytes.substr(0, end)) != bytes.substr(end)) {
    return invalid("byte " + std::to_string(end) +
                   ": the checksum is not that of the data; the profile is damaged");
  }
  return profile;
}

bool is_binary(std::string_view bytes) {
  return bytes.size() > kMagic.size() && bytes[0] == static_cast<char>(kMagic.size()) &&
         bytes.substr(1, kMagic.size()) == kMagic;
}

std::string identity(const Profile& profile) {
  Encoder encoder;
  encode_content(encoder, profile);
  return sha256_hex(encoder.bytes());
}

}  // namespace rehearsal::profile
