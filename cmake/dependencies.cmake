# Every third-party library, found once and given one name. Debian 12 packages: scripts/setup.
find_package(PkgConfig REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(Protobuf REQUIRED)
find_package(ZLIB REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(simdjson REQUIRED)
find_package(CLI11 REQUIRED)
find_package(prometheus-cpp REQUIRED COMPONENTS core)

# Debian's Asio ships headers alone.
find_path(ASIO_INCLUDE_DIR asio.hpp REQUIRED)
add_library(asio INTERFACE)
target_include_directories(asio SYSTEM INTERFACE ${ASIO_INCLUDE_DIR})
target_compile_definitions(asio INTERFACE
  ASIO_STANDALONE ASIO_NO_DEPRECATED
  $<$<CXX_COMPILER_ID:Clang>:ASIO_HAS_CO_AWAIT=1>
  $<$<CXX_COMPILER_ID:Clang>:ASIO_HAS_STD_COROUTINE=1>)
target_link_libraries(asio INTERFACE Threads::Threads)

if(BUILD_TESTING)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

# HdrHistogram_c is not in Debian: its C source comes with an npm package, pinned by lock file and
# hash (scripts/setup runs `npm ci --ignore-scripts`).
add_subdirectory(${PROJECT_SOURCE_DIR}/cmake/hdr_histogram ${CMAKE_BINARY_DIR}/hdr_histogram)
