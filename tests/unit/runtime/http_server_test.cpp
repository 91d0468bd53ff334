#include "runtime/http_server.hpp"

#include <gmock/gmock.h>

#include <asio/read.hpp>

#include "tests/support/loop.hpp"

namespace rehearsal::runtime {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class HttpServerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto server = HttpServer::start(context_, {"127.0.0.1", 0}, [this](std::string_view path) {
      ++asked_;
      if (path != "/metrics") return HttpResponse{404, "text/plain", "not here\n"};
      return HttpResponse{.body = "figure 1\n"};
    });
    ASSERT_TRUE(server) << server.error().text();
    server_ = std::move(*server);
  }

  /// Sends `request` and returns all that comes back until the server closes.
  std::string exchange(const std::string& request) {
    asio::ip::tcp::socket socket(context_);
    socket.connect(
        {asio::ip::make_address(server_->listening().address), server_->listening().port});
    asio::error_code ignored;
    asio::write(socket, asio::buffer(request), ignored);
    std::string received;
    bool ended = false;
    asio::async_read(socket, asio::dynamic_buffer(received),
                     [&](const asio::error_code&, std::size_t) { ended = true; });
    rehearsal::test::run_until(context_, [&] { return ended; });
    return received;
  }

  asio::io_context context_;
  std::unique_ptr<HttpServer> server_;
  int asked_ = 0;
};

TEST_F(HttpServerTest, AnswersGet) {
  EXPECT_NE(server_->listening().port, 0);
  const std::string answer = exchange("GET /metrics?x=1 HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\nfigure 1\n"));
  EXPECT_THAT(exchange("GET /other HTTP/1.1\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 404 Not Found"));
}

TEST_F(HttpServerTest, RefusesWhatIsNotReading) {
  EXPECT_THAT(exchange("DELETE /metrics HTTP/1.1\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 405"));
  EXPECT_EQ(asked_, 0);
}

TEST_F(HttpServerTest, CutsOffLongHeadersUrlsAndBodies) {
  const std::string end = "\r\nConnection: close\r\n\r\n";
  exchange("GET /metrics HTTP/1.1\r\nX: " + std::string(10'000, 'x') + end);
  exchange("GET /" + std::string(5'000, 'x') + " HTTP/1.1" + end);
  exchange("GET /metrics HTTP/1.1\r\nContent-Length: 5" + end + "12345");
  std::string many = "GET /metrics HTTP/1.1";
  for (int i = 0; i < 100; ++i) many += "\r\nX-" + std::to_string(i) + ": 1";
  exchange(many + end);
  exchange("rubbish\r\n\r\n");
  EXPECT_EQ(asked_, 0) << "none of them reaches a handler";
  EXPECT_THAT(exchange("GET /metrics HTTP/1.1" + end), HasSubstr("200 OK"));
}

TEST_F(HttpServerTest, AnAddressInUseIsAnError) {
  const auto second = HttpServer::start(context_, server_->listening(),
                                        [](std::string_view) { return HttpResponse{}; });
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().text(), HasSubstr("cannot serve HTTP on 127.0.0.1:"));
}

TEST_F(HttpServerTest, ANameIsNoAddressToListenOn) {
  const auto server = HttpServer::start(context_, {"not-an-address", 0},
                                        [](std::string_view) { return HttpResponse{}; });
  EXPECT_FALSE(server);
}

}  // namespace
}  // namespace rehearsal::runtime
