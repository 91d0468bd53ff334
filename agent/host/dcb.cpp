#include "agent/host/dcb.hpp"

#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace rehearsal::agent {
namespace {

constexpr std::size_t kAnswerMax = 32768;

Failure malformed() {
  return fail(ErrorCode::protocol, ErrorSource::host, "the kernel's answer about DCB is malformed");
}

/// Calls take(type, payload) for each attribute; false where a length does not fit.
template <typename Take>
bool each_attribute(std::string_view bytes, Take take) {
  while (bytes.size() >= sizeof(nlattr)) {
    nlattr head{};
    std::memcpy(&head, bytes.data(), sizeof head);
    if (head.nla_len < sizeof head || head.nla_len > bytes.size()) return false;
    take(head.nla_type & NLA_TYPE_MASK, bytes.substr(sizeof head, head.nla_len - sizeof head));
    bytes.remove_prefix(std::min<std::size_t>(NLA_ALIGN(head.nla_len), bytes.size()));
  }
  return true;
}

template <typename Value>
bool copy_of(std::string_view payload, Value& value) {
  if (payload.size() < sizeof value) return false;
  std::memcpy(&value, payload.data(), sizeof value);
  return true;
}

void take_app(std::string_view payload, DcbSettings& settings) {
  dcb_app app{};
  if (!copy_of(payload, app) || app.selector != IEEE_8021QAZ_APP_SEL_DSCP) return;
  settings.dscp.push_back({.dscp = app.protocol, .priority = app.priority});
}

std::string request_for(const std::string& interface) {
  nlmsghdr header{};
  dcbmsg message{};
  message.cmd = DCB_CMD_IEEE_GET;
  nlattr name{};
  name.nla_type = DCB_ATTR_IFNAME;
  name.nla_len = static_cast<std::uint16_t>(sizeof name + interface.size() + 1);
  header.nlmsg_len =
      static_cast<std::uint32_t>(sizeof header + sizeof message + NLA_ALIGN(name.nla_len));
  header.nlmsg_type = RTM_GETDCB;
  header.nlmsg_flags = NLM_F_REQUEST;
  std::string bytes(header.nlmsg_len, '\0');
  std::size_t at = 0;
  const auto append = [&](const void* from, std::size_t size) {
    std::memcpy(bytes.data() + at, from, size);
    at += size;
  };
  append(&header, sizeof header);
  append(&message, sizeof message);
  append(&name, sizeof name);
  append(interface.data(), interface.size());
  return bytes;
}

/// The body of the answer to one request.
Result<std::string> ask_kernel(const std::string& request) {
  const int socket = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (socket < 0) return system_failure(ErrorSource::host, "cannot ask the kernel", errno);
  std::string answer(kAnswerMax, '\0');
  // The kernel answers before send() returns.
  const bool sent =
      ::send(socket, request.data(), request.size(), 0) == static_cast<ssize_t>(request.size());
  const ssize_t got = sent ? ::recv(socket, answer.data(), answer.size(), MSG_DONTWAIT) : -1;
  const int error = errno;
  ::close(socket);
  if (got < 0) return system_failure(ErrorSource::host, "the kernel does not answer", error);
  nlmsghdr header{};
  answer.resize(static_cast<std::size_t>(got));
  if (!copy_of(answer, header) || header.nlmsg_len > answer.size() ||
      header.nlmsg_len < sizeof header)
    return malformed();
  std::string body = answer.substr(sizeof header, header.nlmsg_len - sizeof header);
  if (header.nlmsg_type != NLMSG_ERROR) return body;
  nlmsgerr problem{};
  if (!copy_of(body, problem)) return malformed();
  if (problem.error == -EOPNOTSUPP)
    return fail(ErrorCode::unsupported, ErrorSource::host, "its driver has no DCB");
  return system_failure(ErrorSource::host, "the kernel refuses", -problem.error);
}

}  // namespace

Result<DcbSettings> parse_dcb_answer(std::string_view body) {
  dcbmsg message{};
  if (body.size() > kAnswerMax || !copy_of(body, message)) return malformed();
  DcbSettings settings;
  bool whole = true;
  const auto take_table = [&](int type, std::string_view payload) {
    if (type == DCB_ATTR_IEEE_APP) take_app(payload, settings);
  };
  const auto take_ieee = [&](int type, std::string_view payload) {
    ieee_pfc flow_control{};
    if (type == DCB_ATTR_IEEE_PFC && copy_of(payload, flow_control))
      settings.flow_control = flow_control.pfc_en;
    if (type == DCB_ATTR_IEEE_APP_TABLE) whole &= each_attribute(payload, take_table);
  };
  whole &= each_attribute(body.substr(sizeof message), [&](int type, std::string_view payload) {
    if (type == DCB_ATTR_IEEE) whole &= each_attribute(payload, take_ieee);
  });
  if (!whole) return malformed();
  return settings;
}

Result<DcbSettings> read_dcb(const std::string& interface) {
  if (interface.size() >= IFNAMSIZ) return malformed();
  ASSIGN_OR_RETURN(const std::string answer, ask_kernel(request_for(interface)));
  return parse_dcb_answer(answer);
}

std::string priorities_text(std::uint8_t mask) {
  std::string text;
  for (unsigned priority = 0; priority < 8; ++priority)
    if ((mask >> priority & 1U) != 0) text += (text.empty() ? "" : ",") + std::to_string(priority);
  return text.empty() ? text : "priorities " + text;
}

std::string dscp_text(const DcbSettings& settings) {
  std::string text;
  for (const auto& [dscp, priority] : settings.dscp)
    text += (text.empty() ? "" : ", ") + std::to_string(dscp) + ":" + std::to_string(priority);
  return text;
}

}  // namespace rehearsal::agent
