#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/asio.hpp"

namespace rehearsal::runtime {

/// How an operation on a stream went: a code of the system (or end of file) and the bytes moved.
struct Moved {
  asio::error_code error;
  std::size_t bytes = 0;
};

/// A connected two-way stream of bytes, whatever carries it. Callers see neither sockets nor
/// encryption. One read and one write may be under way at a time; all on the executor's thread.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  /// At least one byte, or an error (`asio::error::eof`: the peer closed).
  virtual asio::awaitable<Moved> read_some(std::span<char> buffer) = 0;
  /// All of `bytes`, or an error. The bytes must stay until then.
  virtual asio::awaitable<Moved> write(std::string_view bytes) = 0;
  /// Closes at once; what is under way ends with `operation_aborted`. May be called again.
  virtual void close() noexcept = 0;

  /// "10.78.0.3:40122", for messages to people.
  virtual const std::string& peer() const = 0;
  virtual asio::any_io_executor executor() = 0;
};

/// Plain TCP, with Nagle's algorithm off: frames are small and wanted at once.
std::unique_ptr<ByteStream> tcp_stream(asio::ip::tcp::socket socket);

}  // namespace rehearsal::runtime
