#include "runtime/http_server.hpp"

#include <exception>
#include <restinio/all.hpp>

namespace rehearsal::runtime {
namespace {

constexpr std::size_t kConnectionsMax = 32;
constexpr std::chrono::seconds kRequestTimeMax{5};

struct Traits
    : restinio::single_thread_traits_t<restinio::asio_timer_manager_t, restinio::null_logger_t> {
  static constexpr bool use_connection_count_limiter = true;
};

restinio::incoming_http_msg_limits_t message_limits() {
  return restinio::incoming_http_msg_limits_t{}
      .max_url_size(1024)
      .max_field_name_size(256)
      .max_field_value_size(4096)
      .max_field_count(64)
      .max_body_size(0);
}

std::string_view reason_of(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 503:
      return "Service Unavailable";
    default:
      return "Error";
  }
}

restinio::request_handling_status_t answer(const restinio::request_handle_t& request,
                                           const HttpServer::Handler& handler) {
  HttpResponse response{405, "text/plain; charset=utf-8", "only GET is offered here\n"};
  if (request->header().method() == restinio::http_method_get()) {
    const auto path = request->header().path();
    response = handler(std::string_view(path.data(), path.size()));
  }
  const auto status = static_cast<std::uint16_t>(response.status);
  return request
      ->create_response(restinio::http_status_line_t{restinio::http_status_code_t{status},
                                                     std::string(reason_of(response.status))})
      .append_header(restinio::http_field::content_type, response.content_type)
      .append_header("X-Content-Type-Options", "nosniff")
      .set_body(std::move(response.body))
      .done();
}

class RestinioServer final : public HttpServer {
 public:
  RestinioServer(asio::io_context& context, const Endpoint& endpoint, Handler handler)
      : server_(restinio::external_io_context(context), [&](auto& settings) {
          const auto address = asio::ip::make_address(endpoint.address);
          settings.address(address)
              .protocol(address.is_v4() ? asio::ip::tcp::v4() : asio::ip::tcp::v6())
              .port(endpoint.port)
              .incoming_http_msg_limits(message_limits())
              .max_parallel_connections(kConnectionsMax)
              .read_next_http_message_timelimit(kRequestTimeMax)
              .write_http_response_timelimit(kRequestTimeMax)
              .handle_request_timeout(kRequestTimeMax)
              .acceptor_post_bind_hook([this](asio::ip::tcp::acceptor& acceptor) {
                const auto bound = acceptor.local_endpoint();
                listening_ = {bound.address().to_string(), bound.port()};
              })
              .request_handler([handler = std::move(handler)](auto request) {
                return answer(request, handler);
              });
        }) {
    server_.open_sync();
  }
  ~RestinioServer() override { stop(); }

  const Endpoint& listening() const override { return listening_; }

  void stop() noexcept override {
    try {
      server_.close_sync();
    } catch (const std::exception&) {
      // Closing a listener can only fail where it is gone already.
    }
  }

 private:
  Endpoint listening_;
  restinio::http_server_t<Traits> server_;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(asio::io_context& context,
                                                      const Endpoint& endpoint, Handler handler) {
  try {
    return std::make_unique<RestinioServer>(context, endpoint, std::move(handler));
  } catch (const std::exception& failure) {
    return fail(ErrorCode::system, ErrorSource::host,
                "cannot serve HTTP on " + to_string(endpoint) + ": " + failure.what());
  }
}

}  // namespace rehearsal::runtime
