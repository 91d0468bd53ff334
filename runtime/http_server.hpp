#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "runtime/endpoint.hpp"

namespace asio {
class io_context;
}

namespace rehearsal::runtime {

struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

/// Answers GET requests for fixed paths, on the daemon's own io_context: no thread of its own. Read
/// only, so it needs no login; requests with a body, long headers or too many at once are cut off.
/// The library behind it (RESTinio) is seen by one source file.
class HttpServer {
 public:
  /// The answer for a path ("/metrics", without the query); status 404 for what is not there.
  using Handler = std::function<HttpResponse(std::string_view path)>;

  virtual ~HttpServer() = default;
  /// Where it really listens (port 0 was chosen by the system).
  virtual const Endpoint& listening() const = 0;
  /// Takes no more connections. Called by the destructor.
  virtual void stop() noexcept = 0;

  /// Listens on an IP address; fails when it cannot be bound.
  static Result<std::unique_ptr<HttpServer>> start(asio::io_context& context,
                                                   const Endpoint& endpoint, Handler handler);
};

}  // namespace rehearsal::runtime
