#include <nlohmann/json.hpp>

#include "core/profile/show.hpp"

namespace rehearsal::profile {
namespace {

using Json = nlohmann::ordered_json;

Json ranks_json(const std::vector<Rank>& ranks) {
  Json list = Json::array();
  for (const Rank rank : ranks) list.push_back(rank.value);
  return list;
}

Json op_json(const Profile& profile, const Op& op) {
  Json json;
  json["kind"] = to_string(op.kind);
  json["name"] = op.name;
  json["stream"] = profile.streams[op.stream];
  json["phase"] = profile.phases[op.phase];
  json["after"] = op.after;
  if (op.kind == OpKind::compute) {
    json["duration_ns"] = op.duration.count();
    return json;
  }
  json["communicator"] = profile.communicators[op.communicator.value].name;
  if (op.peer_bytes) {
    json["per_peer"] = profile.peer_bytes[*op.peer_bytes].name;
  } else {
    json["bytes"] = op.bytes.count();
  }
  switch (op.kind) {
    case OpKind::broadcast:
    case OpKind::reduce:
    case OpKind::gather:
    case OpKind::scatter:
      json["root"] = op.peer;
      break;
    case OpKind::send:
      json["to"] = op.peer;
      break;
    case OpKind::recv:
      json["from"] = op.peer;
      break;
    default:
      break;
  }
  if (op.captured > Duration::zero()) json["captured_ns"] = op.captured.count();
  return json;
}

Json matrix_json(const PeerBytes& matrix) {
  Json rows = Json::array();
  for (std::uint32_t from = 0; from < matrix.size; ++from) {
    Json row = Json::array();
    for (std::uint32_t to = 0; to < matrix.size; ++to) {
      row.push_back(matrix.from_to(from, to).count());
    }
    rows.push_back(std::move(row));
  }
  return {{"name", matrix.name}, {"bytes", std::move(rows)}};
}

Json provenance_json(const Provenance& provenance) {
  Json sources = Json::array();
  for (const Provenance::Source& source : provenance.sources) {
    sources.push_back({{"file", source.file}, {"sha256", source.sha256}});
  }
  return {{"format", provenance.format},
          {"importer", provenance.importer},
          {"note", provenance.note},
          {"sources", std::move(sources)}};
}

}  // namespace

std::string to_json(const Profile& profile) {
  Json json;
  json["schema_version"] = 1;
  json["name"] = profile.name;
  json["identity"] = identity(profile);
  json["ranks"] = profile.ranks;
  json["streams"] = profile.streams;
  json["phases"] = profile.phases;
  json["communicators"] = Json::array();
  for (const Communicator& communicator : profile.communicators) {
    json["communicators"].push_back(
        {{"name", communicator.name}, {"ranks", ranks_json(communicator.ranks)}});
  }
  json["per_peer_bytes"] = Json::array();
  for (const PeerBytes& matrix : profile.peer_bytes) {
    json["per_peer_bytes"].push_back(matrix_json(matrix));
  }
  json["classes"] = Json::array();
  for (const RankClass& rank_class : profile.classes) {
    Json ops = Json::array();
    for (const Op& op : rank_class.ops) ops.push_back(op_json(profile, op));
    json["classes"].push_back({{"name", rank_class.name},
                               {"ranks", ranks_json(rank_class.ranks)},
                               {"ops", std::move(ops)}});
  }
  json["provenance"] = provenance_json(profile.provenance);
  // Names may hold any bytes; what is no UTF-8 is replaced.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rehearsal::profile
