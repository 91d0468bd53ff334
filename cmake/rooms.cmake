# rehearsal_precompile(TARGET [asio]): takes headers precompiled, where there are such: Asio's with the
# standard library's that it includes, or the latter alone.
function(rehearsal_precompile target)
  if(ARGN AND REHEARSAL_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} REUSE_FROM ${ARGN})
  elseif(NOT ARGN AND TARGET rehearsal_standard_headers)
    target_precompile_headers(${target} REUSE_FROM rehearsal_standard_headers)
  endif()
endfunction()

# rehearsal_room(core/profile LINKS rehearsal_base): a static library `rehearsal_profile` of all the
# sources in that folder. Headers are included by their path from the root of the repository. With
# `HEADERS asio` Asio's are taken precompiled, otherwise the standard library's.
function(rehearsal_room folder)
  cmake_parse_arguments(ROOM "" "NAME;HEADERS" "LINKS;PRIVATE_LINKS" ${ARGN})
  get_filename_component(name ${folder} NAME)
  if(ROOM_NAME)
    set(name ${ROOM_NAME})
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")  # that is the program's
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.hpp)
  if(sources)
    add_library(rehearsal_${name} STATIC ${sources} ${headers})
    target_link_libraries(rehearsal_${name} PUBLIC rehearsal_options ${ROOM_LINKS}
                                            PRIVATE ${ROOM_PRIVATE_LINKS})
    rehearsal_precompile(rehearsal_${name} ${ROOM_HEADERS})
  else()
    add_library(rehearsal_${name} INTERFACE)
    target_link_libraries(rehearsal_${name} INTERFACE rehearsal_options ${ROOM_LINKS})
  endif()
endfunction()

# rehearsal_program(rehearsald daemon LINKS rehearsal_daemon): the program of daemon/main.cpp.
function(rehearsal_program program folder)
  cmake_parse_arguments(PROGRAM "" "" "LINKS" ${ARGN})
  add_executable(${program} ${PROJECT_SOURCE_DIR}/${folder}/main.cpp)
  target_compile_definitions(${program} PRIVATE REHEARSAL_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${program} PRIVATE rehearsal_options ${PROGRAM_LINKS})
endfunction()

# rehearsal_link_test(PROGRAM LIBRARY…): with GoogleTest and its main, its headers precompiled where
# there are such.
function(rehearsal_link_test program)
  target_link_libraries(${program} PRIVATE
    ${ARGN} rehearsal_test_support rehearsal_test_options GTest::gmock_main)
  if(REHEARSAL_PRECOMPILED_HEADERS)
    target_precompile_headers(${program} REUSE_FROM rehearsal_test_support)
  endif()
endfunction()

# rehearsal_unit_tests(core/profile LINKS rehearsal_profile): one test program of all the
# tests/unit/core/profile/*_test.cpp, label `unit`.
function(rehearsal_unit_tests folder)
  cmake_parse_arguments(TESTS "" "LABEL;KIND" "LINKS" ${ARGN})
  set(kind unit)
  set(timeout 120)
  if(TESTS_KIND)
    set(kind ${TESTS_KIND})
    set(timeout 300)  # whole drills, and many histories
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${kind}/${folder}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" name ${folder})
  set(program ${kind}_${name}_test)
  if(name STREQUAL ".")
    set(program ${kind}_test)
  endif()
  add_executable(${program} ${sources})
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  rehearsal_link_test(${program} ${TESTS_LINKS})
  gtest_discover_tests(${program}
    TEST_PREFIX ${kind}.
    PROPERTIES LABELS ${kind} TIMEOUT ${timeout}
    DISCOVERY_TIMEOUT 60)
endfunction()
