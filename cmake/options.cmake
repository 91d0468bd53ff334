# Language level, warnings and instrumentation, the same for every target of ours.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

include(CTest)

option(REHEARSAL_PRECOMPILED_HEADERS "Precompile the heavy headers (Asio, GoogleTest)" ON)
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
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror>)
target_include_directories(rehearsal_options INTERFACE ${PROJECT_SOURCE_DIR})
target_link_libraries(rehearsal_options INTERFACE Threads::Threads)

if(REHEARSAL_SANITIZE)
  add_compile_options(-fsanitize=${REHEARSAL_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${REHEARSAL_SANITIZE})
  if(REHEARSAL_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # GCC sees false ones between the checks it put in (its manual, -fsanitize), in <regex> for one.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
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
