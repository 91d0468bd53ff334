#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace rehearsal::agent::netlink {

/// One message to the kernel: a header of the family (`ifinfomsg`, `tcmsg` …), then attributes.
/// rtnetlink(7), netlink(7).
class Message {
 public:
  template <typename Family>
  Message(std::uint16_t type, std::uint16_t flags, const Family& family)
      : type_(type), flags_(flags) {
    append(&family, sizeof family);
  }

  void put(std::uint16_t attribute, const void* value, std::size_t size);
  void put_text(std::uint16_t attribute, const std::string& text);
  template <typename Value>
  void put_value(std::uint16_t attribute, const Value& value) {
    put(attribute, &value, sizeof value);
  }
  /// Attributes put until end() are inside this one.
  std::size_t begin(std::uint16_t attribute);
  void end(std::size_t begun);
  /// Bytes without an attribute of their own, at the beginning of a nested one.
  void append(const void* bytes, std::size_t size);

  std::uint16_t type() const { return type_; }
  std::uint16_t flags() const { return flags_; }
  const std::string& body() const { return body_; }

 private:
  std::uint16_t type_;
  std::uint16_t flags_;
  std::string body_;
};

/// The attributes of an answer, by number. A malformed rest is left out.
class Attributes {
 public:
  explicit Attributes(std::string_view bytes);

  std::optional<std::string_view> bytes(std::uint16_t attribute) const;
  /// A text without its final zero.
  std::string text(std::uint16_t attribute) const;
  template <typename Value>
  std::optional<Value> value(std::uint16_t attribute) const {
    const auto found = bytes(attribute);
    if (!found || found->size() < sizeof(Value)) return std::nullopt;
    Value value;
    std::memcpy(&value, found->data(), sizeof value);
    return value;
  }

 private:
  std::map<std::uint16_t, std::string_view> found_;
};

/// The head of an answer's body as this type, if it is long enough.
template <typename Family>
std::optional<Family> family_of(std::string_view body) {
  if (body.size() < sizeof(Family)) return std::nullopt;
  Family family;
  std::memcpy(&family, body.data(), sizeof family);
  return family;
}

/// The attributes after that head.
template <typename Family>
Attributes attributes_of(std::string_view body) {
  constexpr std::size_t kHead = (sizeof(Family) + 3) / 4 * 4;
  return Attributes(body.size() < kHead ? std::string_view{} : body.substr(kHead));
}

/// A conversation with the kernel; every call waits for the kernel's answer.
class Socket {
 public:
  /// `protocol`: NETLINK_ROUTE, NETLINK_GENERIC.
  static Result<Socket> open(int protocol);
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  using OnAnswer = std::function<void(std::uint16_t type, std::string_view body)>;

  /// Asks for all of something; `on_answer` is called for each, when all are there.
  Result<void> dump(const Message& message, const OnAnswer& on_answer);
  /// Asks for one thing, or for a change: waits for the kernel's acknowledgement. ENODEV is
  /// not_found, ENOENT and EOPNOTSUPP unsupported, all else `system`, with the kernel's own words.
  Result<void> request(const Message& message, const OnAnswer& on_answer = nullptr);

 private:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Result<void> send(const Message& message, std::uint16_t flags);
  /// Until the kernel says that this was all; true: what it told of changed meanwhile.
  Result<bool> receive(const OnAnswer& on_answer);

  int descriptor_ = -1;
  std::uint32_t sequence_ = 0;
};

}  // namespace rehearsal::agent::netlink
