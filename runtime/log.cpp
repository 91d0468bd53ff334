#include "runtime/log.hpp"

#include <spdlog/async.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <string>

namespace rehearsal::runtime {
namespace {

constexpr std::size_t kQueueLines = 8192;
constexpr std::size_t kLineBytesMax = 2000;
constexpr const char* kName = "rehearsal";

void write(spdlog::level::level_enum level, std::string_view text) {
  const auto logger = spdlog::get(kName);
  if (!logger || !logger->should_log(level)) return;
  std::string line(text.substr(0, kLineBytesMax));
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
  logger->log(level, line);
}

spdlog::level::level_enum level_of(LogThreshold threshold) {
  switch (threshold) {
    case LogThreshold::info:
      return spdlog::level::info;
    case LogThreshold::warning:
      return spdlog::level::warn;
    case LogThreshold::error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

Logging::Logging(LogThreshold threshold) {
  spdlog::init_thread_pool(kQueueLines, 1);
  auto logger = std::make_shared<spdlog::async_logger>(
      kName, std::make_shared<spdlog::sinks::stderr_sink_mt>(), spdlog::thread_pool(),
      spdlog::async_overflow_policy::overrun_oldest);
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
  logger->set_level(level_of(threshold));
  logger->flush_on(spdlog::level::info);
  spdlog::register_logger(logger);
}

Logging::~Logging() { spdlog::shutdown(); }

void log_info(std::string_view text) { write(spdlog::level::info, text); }
void log_warning(std::string_view text) { write(spdlog::level::warn, text); }
void log_error(std::string_view text) { write(spdlog::level::err, text); }

}  // namespace rehearsal::runtime
