#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/fabric/node.hpp"

namespace rehearsal::fabric {

/// Reads a topology as NCCL writes it (NCCL_TOPO_DUMP_FILE) and takes it (NCCL_TOPO_FILE); format:
/// nccl src/graph/xml.cc, topo.cc. The latter leaves out what NCCL finds by itself: then GPUs and
/// NICs are told by their PCI class and vendor, generations by device id, and Node::assumed says
/// what was taken from the usual node.
///
/// Which NIC a GPU uses follows NCCL (topo.cc ncclTopoGetLocalNet): of those at the end of the best
/// kind of path, GPUs take turns. Elements and attributes that do not matter here are passed over.
///
/// Fails with invalid_input (file, line, element, what would be right), or unsupported for GPUs
/// that are not NVIDIA's: NCCL's model does not know them.
Result<Node> read_nccl_topology(std::string_view text, const std::string& name);

}  // namespace rehearsal::fabric
