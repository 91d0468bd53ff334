#include "agent/helper/netlink.hpp"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

namespace rehearsal::agent::netlink {
namespace {

/// The kernel's own advice for dumps (netlink(7)).
constexpr std::size_t kBufferBytes = 64 * 1024;
constexpr time_t kAnswerSeconds = 5;
constexpr int kDumpAttempts = 5;

constexpr std::size_t aligned(std::size_t size) { return (size + 3) / 4 * 4; }

/// The error of an acknowledgement, with the kernel's words if it has any.
Result<void> outcome_of(std::string_view body, std::uint16_t flags) {
  nlmsgerr error{};
  if (body.size() < sizeof error) {
    return fail(ErrorCode::system, ErrorSource::host, "an answer of the kernel is too short");
  }
  std::memcpy(&error, body.data(), sizeof error);
  if (error.error == 0) return {};
  std::string words;
  if ((flags & NLM_F_ACK_TLVS) != 0) {
    // Without NLM_F_CAPPED the request follows its header.
    const std::size_t echoed =
        (flags & NLM_F_CAPPED) != 0 ? 0 : error.msg.nlmsg_len - sizeof(nlmsghdr);
    const std::size_t at = aligned(sizeof error + echoed);
    if (at < body.size()) words = Attributes(body.substr(at)).text(NLMSGERR_ATTR_MSG);
  }
  if (words.empty()) words = "the kernel refused";
  Failure failure = system_failure(ErrorSource::host, words, -error.error);
  if (error.error == -ENODEV) failure.value().code = ErrorCode::not_found;
  if (error.error == -ENOENT || error.error == -EOPNOTSUPP) {
    failure.value().code = ErrorCode::unsupported;
  }
  return failure;
}

}  // namespace

void Message::append(const void* bytes, std::size_t size) {
  body_.append(static_cast<const char*>(bytes), size);
  body_.resize(aligned(body_.size()));
}

void Message::put(std::uint16_t attribute, const void* value, std::size_t size) {
  const nlattr head{static_cast<std::uint16_t>(sizeof(nlattr) + size), attribute};
  append(&head, sizeof head);
  append(value, size);
}

void Message::put_text(std::uint16_t attribute, const std::string& text) {
  put(attribute, text.c_str(), text.size() + 1);
}

std::size_t Message::begin(std::uint16_t attribute) {
  const std::size_t begun = body_.size();
  const nlattr head{sizeof(nlattr), attribute};
  append(&head, sizeof head);
  return begun;
}

void Message::end(std::size_t begun) {
  const auto size = static_cast<std::uint16_t>(body_.size() - begun);
  std::memcpy(body_.data() + begun, &size, sizeof size);
}

Attributes::Attributes(std::string_view bytes) {
  while (bytes.size() >= sizeof(nlattr)) {
    nlattr head{};
    std::memcpy(&head, bytes.data(), sizeof head);
    if (head.nla_len < sizeof head || head.nla_len > bytes.size()) return;
    found_[head.nla_type & NLA_TYPE_MASK] = bytes.substr(sizeof head, head.nla_len - sizeof head);
    bytes.remove_prefix(std::min(aligned(head.nla_len), bytes.size()));
  }
}

std::optional<std::string_view> Attributes::bytes(std::uint16_t attribute) const {
  const auto found = found_.find(attribute);
  if (found == found_.end()) return std::nullopt;
  return found->second;
}

std::string Attributes::text(std::uint16_t attribute) const {
  const std::string_view text = bytes(attribute).value_or("");
  return std::string(text.substr(0, text.find('\0')));
}

Result<Socket> Socket::open(int protocol) {
  Socket opened(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol));
  const sockaddr_nl address{.nl_family = AF_NETLINK, .nl_pad = 0, .nl_pid = 0, .nl_groups = 0};
  const timeval patience{.tv_sec = kAnswerSeconds, .tv_usec = 0};
  const int on = 1;
  const int descriptor = opened.descriptor_;
  if (descriptor < 0 ||
      ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
      ::setsockopt(descriptor, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on) != 0) {
    return system_failure(ErrorSource::host, "cannot open netlink", errno);
  }
  return opened;
}

Socket::Socket(Socket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), sequence_(other.sequence_) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(sequence_, other.sequence_);
  return *this;
}

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> Socket::dump(const Message& message, const OnAnswer& on_answer) {
  for (int attempt = 0; attempt < kDumpAttempts; ++attempt) {
    std::vector<std::pair<std::uint16_t, std::string>> answers;
    RETURN_IF_ERROR(send(message, NLM_F_REQUEST | NLM_F_DUMP));
    ASSIGN_OR_RETURN(const bool was_interrupted,
                     receive([&](auto type, auto body) { answers.emplace_back(type, body); }));
    if (was_interrupted) continue;
    for (const auto& [type, body] : answers) on_answer(type, body);
    return {};
  }
  return fail(ErrorCode::system, ErrorSource::host,
              "the kernel's network changes too fast to be read");
}

Result<void> Socket::request(const Message& message, const OnAnswer& on_answer) {
  RETURN_IF_ERROR(send(message, NLM_F_REQUEST | NLM_F_ACK));
  RETURN_IF_ERROR(receive(on_answer));
  return {};
}

Result<void> Socket::send(const Message& message, std::uint16_t flags) {
  nlmsghdr head{};
  head.nlmsg_len = static_cast<std::uint32_t>(sizeof head + message.body().size());
  head.nlmsg_type = message.type();
  head.nlmsg_flags = static_cast<std::uint16_t>(message.flags() | flags);
  head.nlmsg_seq = ++sequence_;
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  bytes += message.body();
  if (::send(descriptor_, bytes.data(), bytes.size(), 0) < 0) {
    return system_failure(ErrorSource::host, "cannot ask the kernel", errno);
  }
  return {};
}

Result<bool> Socket::receive(const OnAnswer& on_answer) {
  bool was_interrupted = false;
  std::vector<char> buffer(kBufferBytes);
  for (;;) {
    const ssize_t size = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return system_failure(ErrorSource::host, "no answer from the kernel", errno);
    std::string_view rest(buffer.data(), static_cast<std::size_t>(size));
    while (rest.size() >= sizeof(nlmsghdr)) {
      nlmsghdr head{};
      std::memcpy(&head, rest.data(), sizeof head);
      if (head.nlmsg_len < sizeof head || head.nlmsg_len > rest.size()) break;
      const std::string_view body = rest.substr(sizeof head, head.nlmsg_len - sizeof head);
      rest.remove_prefix(std::min(aligned(head.nlmsg_len), rest.size()));
      if (head.nlmsg_seq != sequence_) continue;  // of an earlier request that was given up
      was_interrupted = was_interrupted || (head.nlmsg_flags & NLM_F_DUMP_INTR) != 0;
      if (head.nlmsg_type == NLMSG_ERROR) {
        return outcome_of(body, head.nlmsg_flags).map([&] { return was_interrupted; });
      }
      if (head.nlmsg_type == NLMSG_DONE) return was_interrupted;
      if (on_answer) on_answer(head.nlmsg_type, body);
    }
  }
}

}  // namespace rehearsal::agent::netlink
