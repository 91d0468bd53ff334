#include "runtime/byte_stream.hpp"
#include "runtime/endpoint.hpp"

namespace rehearsal::runtime {
namespace {

class TcpStream final : public ByteStream {
 public:
  explicit TcpStream(asio::ip::tcp::socket socket) : socket_(std::move(socket)) {
    asio::error_code error;
    const auto remote = socket_.remote_endpoint(error);
    peer_ = error ? "unknown peer" : to_string(remote);
    socket_.set_option(asio::ip::tcp::no_delay(true), error);
  }

  asio::awaitable<Moved> read_some(std::span<char> buffer) override {
    const auto [error, bytes] =
        co_await socket_.async_read_some(asio::buffer(buffer.data(), buffer.size()), kTuple);
    co_return Moved{error, bytes};
  }

  asio::awaitable<Moved> write(std::string_view bytes) override {
    const auto [error, count] =
        co_await asio::async_write(socket_, asio::buffer(bytes.data(), bytes.size()), kTuple);
    co_return Moved{error, count};
  }

  void close() noexcept override {
    asio::error_code ignored;
    socket_.close(ignored);
  }

  const std::string& peer() const override { return peer_; }
  asio::any_io_executor executor() override { return socket_.get_executor(); }

 private:
  asio::ip::tcp::socket socket_;
  std::string peer_;
};

}  // namespace

std::unique_ptr<ByteStream> tcp_stream(asio::ip::tcp::socket socket) {
  return std::make_unique<TcpStream>(std::move(socket));
}

}  // namespace rehearsal::runtime
