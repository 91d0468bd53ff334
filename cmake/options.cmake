# Language level, warnings and instrumentation, the same for every target of ours.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

include(CTest)

option(REHEARSAL_PRECOMPILED_HEADERS "Precompile the headers that most files include" ON)
option(REHEARSAL_FUZZ "Build the fuzz targets with libFuzzer (clang only)" OFF)
set(REHEARSAL_SANITIZE "" CACHE STRING "Sanitizers for every target, as for -fsanitize=")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

find_package(Threads REQUIRED)

add_library(rehearsal_options INTERFACE)
target_compile_options(rehearsal_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror>
  # GCC 12 sees false ones in variants that are moved, and between the sanitizers' checks; the address
  # sanitizer and clang (preset tidy) look for true ones.
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
target_include_directories(rehearsal_options INTERFACE ${PROJECT_SOURCE_DIR})
target_link_libraries(rehearsal_options INTERFACE Threads::Threads)

if(REHEARSAL_SANITIZE)
  add_compile_options(-fsanitize=${REHEARSAL_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${REHEARSAL_SANITIZE})
  if(REHEARSAL_SANITIZE MATCHES thread)
    add_compile_options(-Wno-tsan)  # fences inside Asio's headers, which tsan does not model
  endif()
endif()
if(REHEARSAL_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined)
  add_link_options(-fsanitize=address,undefined)
endif()

# What tests are compiled with: their own code is neither what is measured nor where undefined
# behaviour is looked for, and takes half the time to compile this way.
add_library(rehearsal_test_options INTERFACE)
target_compile_options(rehearsal_test_options INTERFACE $<$<NOT:$<CONFIG:Release>>:-O0>)
if(REHEARSAL_SANITIZE MATCHES undefined)
  target_compile_options(rehearsal_test_options INTERFACE -fno-sanitize=undefined)
endif()

# The standard library's headers are half of what a small file takes to compile, so rooms take them
# precompiled by REUSE_FROM this. Not in a release: there a file that forgets an include must not compile.
set(REHEARSAL_STANDARD_HEADERS
  <algorithm> <array> <bit> <charconv> <chrono> <cmath> <compare> <cstdint> <cstdio> <cstring> <deque>
  <functional> <limits> <map> <memory> <numeric> <optional> <set> <span> <string>
  <string_view> <tuple> <unordered_map> <utility> <variant> <vector> <tl/expected.hpp>)
if(REHEARSAL_PRECOMPILED_HEADERS AND NOT CMAKE_BUILD_TYPE STREQUAL Release)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/standard_headers.cpp CONTENT "")
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # From there GCC 12 takes the standard library's code for ours, and sees false ones in it (its bug
    # 105651). The release looks for true ones.
    add_compile_options(-Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
  add_library(rehearsal_standard_headers STATIC EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/standard_headers.cpp)
  target_link_libraries(rehearsal_standard_headers PRIVATE rehearsal_options)
  target_precompile_headers(rehearsal_standard_headers PRIVATE ${REHEARSAL_STANDARD_HEADERS})
endif()
