#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/fabric/node.hpp"

namespace rehearsal::fabric {

/// Does the text look like the matrix of `nvidia-smi topo -m`?
bool is_smi_topology(std::string_view text);

/// Reads the text of `nvidia-smi topo -m`: the matrix of GPUs and NICs (NV#, PIX, PXB, PHB, NODE,
/// SYS) and its NIC legend; what stands before and after it may stay.
///
/// The matrix says neither rates nor CPU nor generation: these are taken from the usual node with
/// as many NVLinks (up to 6 Volta, up to 12 Ampere, more Hopper), and Node::assumed says so. Which
/// NIC a GPU uses: as in an NCCL topology.
///
/// Fails with invalid_input: file, line, what would be right.
Result<Node> read_smi_topology(std::string_view text, const std::string& name);

}  // namespace rehearsal::fabric
