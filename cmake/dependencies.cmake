# Every third-party library, found once and given one name. Debian 12 packages: scripts/setup.
find_package(PkgConfig REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(Protobuf REQUIRED)
find_package(ZLIB REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(spdlog REQUIRED)
# The thread sanitizer must see the logger's own thread: Debian's library is not instrumented, so
# under that sanitizer its headers are compiled here.
if(REHEARSAL_SANITIZE MATCHES thread)
  set(REHEARSAL_SPDLOG spdlog::spdlog_header_only)
else()
  set(REHEARSAL_SPDLOG spdlog::spdlog)
endif()
find_package(nlohmann_json REQUIRED)
find_package(simdjson REQUIRED)
find_package(pugixml REQUIRED)
find_package(CLI11 REQUIRED)
find_package(prometheus-cpp REQUIRED COMPONENTS core)

# Debian's Asio ships headers alone; its code is compiled once, which takes a third off every file
# that includes it.
find_path(ASIO_INCLUDE_DIR asio.hpp REQUIRED)
add_library(asio STATIC EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/asio/asio.cpp)
target_include_directories(asio SYSTEM PUBLIC ${ASIO_INCLUDE_DIR})
target_compile_definitions(asio PUBLIC
  ASIO_STANDALONE ASIO_SEPARATE_COMPILATION  # RESTinio needs the deprecated names
  $<$<CXX_COMPILER_ID:Clang>:ASIO_HAS_CO_AWAIT=1>
  $<$<CXX_COMPILER_ID:Clang>:ASIO_HAS_STD_COROUTINE=1>)
set_target_properties(asio PROPERTIES CXX_CLANG_TIDY "")
if(REHEARSAL_PRECOMPILED_HEADERS)  # rooms take them by REUSE_FROM asio
  target_precompile_headers(asio PRIVATE
    <asio/awaitable.hpp> <asio/co_spawn.hpp> <asio/experimental/as_tuple.hpp> <asio/io_context.hpp>
    <asio/ip/tcp.hpp> <asio/post.hpp> <asio/steady_timer.hpp> <asio/use_awaitable.hpp>
    <asio/write.hpp>)
endif()
target_link_libraries(asio PUBLIC Threads::Threads PRIVATE rehearsal_options)

# RESTinio is headers alone, on top of http-parser and fmt.
find_path(RESTINIO_INCLUDE_DIR restinio/all.hpp REQUIRED)
find_library(HTTP_PARSER_LIBRARY http_parser REQUIRED)
find_package(fmt REQUIRED)
add_library(restinio_headers INTERFACE)
target_include_directories(restinio_headers SYSTEM INTERFACE ${RESTINIO_INCLUDE_DIR})
target_link_libraries(restinio_headers INTERFACE asio fmt::fmt ${HTTP_PARSER_LIBRARY})

if(BUILD_TESTING)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

# HdrHistogram_c is not in Debian: its C source comes with an npm package, pinned by lock file and
# hash (scripts/setup runs `npm ci --ignore-scripts`).
add_subdirectory(${PROJECT_SOURCE_DIR}/cmake/hdr_histogram ${CMAKE_BINARY_DIR}/hdr_histogram)
