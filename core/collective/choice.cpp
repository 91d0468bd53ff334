#include "core/collective/choice.hpp"

#include "core/base/check.hpp"
#include "core/collective/partition.hpp"

namespace rehearsal::collective {

std::string_view to_string(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::tree:
      return "tree";
    case Algorithm::ring:
      return "ring";
    case Algorithm::collnet_direct:
      return "collnet_direct";
    case Algorithm::collnet_chain:
      return "collnet_chain";
    case Algorithm::nvls:
      return "nvls";
    case Algorithm::nvls_tree:
      return "nvls_tree";
    case Algorithm::pat:
      return "pat";
    case Algorithm::halving_doubling:
      return "halving_doubling";
    case Algorithm::direct:
      return "direct";
  }
  CHECK(false, "an algorithm without a name");
}

std::string_view to_string(Protocol protocol) {
  switch (protocol) {
    case Protocol::ll:
      return "ll";
    case Protocol::ll128:
      return "ll128";
    case Protocol::simple:
      return "simple";
  }
  CHECK(false, "a protocol without a name");
}

std::uint64_t wire_bytes(Protocol protocol, std::uint64_t bytes) {
  switch (protocol) {
    case Protocol::ll:
      return divide_up(bytes, 8) * 16;
    case Protocol::ll128:
      return divide_up(bytes, 1920) * 2048;
    case Protocol::simple:
      return bytes;
  }
  CHECK(false, "a protocol without a wire format");
}

}  // namespace rehearsal::collective
