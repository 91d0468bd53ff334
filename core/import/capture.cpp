#include "core/import/capture.hpp"

#include <array>

namespace rehearsal::importer {
namespace {

struct Type {
  std::string_view captured;
  std::string_view name;
  std::uint32_t bytes;
};

constexpr auto kTypes = std::to_array<Type>({
    {"float", "fp32", 4},
    {"double", "fp64", 8},
    {"c10::Half", "fp16", 2},
    {"c10::BFloat16", "bf16", 2},
    {"long int", "int64", 8},
    {"long", "int64", 8},
    {"int", "int32", 4},
    {"short int", "int16", 2},
    {"short", "int16", 2},
    {"signed char", "int8", 1},
    {"unsigned char", "uint8", 1},
    {"bool", "bool", 1},
});

struct Name {
  std::string_view captured;
  profile::OpKind kind;
};

using profile::OpKind;
constexpr auto kCollectives = std::to_array<Name>({
    {"allreduce", OpKind::all_reduce},
    {"all_reduce", OpKind::all_reduce},
    {"all_to_all", OpKind::all_to_all},
    {"all_to_allv", OpKind::all_to_all},
    {"allgather", OpKind::all_gather},
    {"all_gather", OpKind::all_gather},
    {"_allgather_base", OpKind::all_gather},
    {"_all_gather_base", OpKind::all_gather},
    {"reduce_scatter", OpKind::reduce_scatter},
    {"_reduce_scatter_base", OpKind::reduce_scatter},
    {"broadcast", OpKind::broadcast},
    {"reduce", OpKind::reduce},
    {"gather", OpKind::gather},
    {"scatter", OpKind::scatter},
    {"barrier", OpKind::barrier},
});

}  // namespace

std::optional<std::pair<std::string, std::uint32_t>> element_type(std::string_view name) {
  // "Tensor(float)" and "GenericList[Tensor(float)]" hold it in the innermost brackets.
  if (const std::size_t open = name.find("Tensor("); open != std::string_view::npos) {
    name.remove_prefix(open + 7);
    name = name.substr(0, name.find(')'));
  }
  for (const Type& type : kTypes) {
    if (type.captured == name) return std::pair(std::string(type.name), type.bytes);
  }
  return std::nullopt;
}

std::optional<OpKind> collective_kind(std::string_view name) {
  for (const Name& candidate : kCollectives) {
    if (candidate.captured == name) return candidate.kind;
  }
  return std::nullopt;
}

Failure wrong_record(std::string_view file, std::string_view record, std::size_t number,
                     std::string_view what) {
  return invalid(std::string(file) + ": " + std::string(record) + " " + std::to_string(number) +
                 ": " + std::string(what));
}

}  // namespace rehearsal::importer
