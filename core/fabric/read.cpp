#include "core/fabric/read.hpp"

#include "core/fabric/nccl_topology.hpp"
#include "core/fabric/node_text.hpp"
#include "core/fabric/smi_topology.hpp"

namespace rehearsal::fabric {

Result<Node> read_node(std::string_view text, const std::string& name) {
  if (text.size() > kNodeBytesMax) {
    return fail(ErrorCode::too_large, ErrorSource::config,
                name + ": is " + format_bytes(Bytes{text.size()}) + "; expected at most " +
                    format_bytes(Bytes{kNodeBytesMax}));
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first != std::string_view::npos && text[first] == '<') return read_nccl_topology(text, name);
  if (is_smi_topology(text)) return read_smi_topology(text, name);
  return read_node_text(text, name);
}

}  // namespace rehearsal::fabric
