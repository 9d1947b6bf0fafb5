# What every target of the project shares: warnings, the root as include folder, ccache.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Paths relative to the project: one build folder's objects serve another. Macros of precompiled
  # headers are not followed; GCC checks them itself.
  set(cached ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${cached})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${cached})
endif()

# All code may become part of the shared library libwindtunnel.so, which shows what include/ marks.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

# A product and a sum are two roundings, as on x86-64 without further options, also where compilers
# would take one instruction for both. What libraries of mathematics differ by stays.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>")
endif()

# GCC 13 takes what a function returns for a part of its temporary argument.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wno-dangling-reference>")
endif()

# GCC looks for memory to give back whenever its heap has doubled, for a twentieth of its time. This
# way it begins at 600 MB; the largest source then takes 880 MB in place of 730. Not in the build of
# `./dev lint`, whose commands clang-tidy reads.
set(windtunnel_collect_seldom "")
if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  set(windtunnel_collect_seldom --param=ggc-min-expand=200 --param=ggc-min-heapsize=600000)
endif()

function(windtunnel_options target)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Werror>"
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:${windtunnel_collect_seldom}>"
    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra;-Werror=all-warnings>")
endfunction()

# With it ccache follows precompiled headers.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(windtunnel_cached_headers -fpch-preprocess)
else()
  set(windtunnel_cached_headers "SHELL:-Xclang -fno-pch-timestamp")
endif()

# windtunnel_headers(NAME HEADERS <vector> ... [LINKS fmt::fmt]): headers from outside, compiled once.
# A target that uses them names NAME and has the same options. GCC 12 takes std::string's code in them for ours, and warns of it (bugs 105329,
# 105651); `./dev lint` and the sanitizers' builds compile without them.
function(windtunnel_headers name)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINKS" ${ARGN})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "")
  add_library(${name} STATIC ${source})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS})
  target_compile_options(${name} PRIVATE ${windtunnel_cached_headers})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
  windtunnel_options(${name})
endfunction()

# A test waits for what it tests more than for itself, and is compiled more often than it runs: a
# third less time to compile. The sanitizers' builds have their own options.
function(windtunnel_compile_lightly target)
  target_compile_options(${target} PRIVATE "$<$<CONFIG:RelWithDebInfo>:-O1;-g0>")
endfunction()

# What reads and writes texts (keys, tables, pages, command lines) waits for files and people: a
# quarter less time to compile. Not -O0: of an inline function that is compiled several times the
# linker keeps one, and that of a text would serve everywhere.
function(windtunnel_compile_text target)
  target_compile_options(${target} PRIVATE "$<$<CONFIG:RelWithDebInfo>:-O1>")
endfunction()

# Of executables too: GCC takes them only where code is position-independent in the same way.
function(windtunnel_use_headers target headers)
  if(headers STREQUAL json_headers)
    windtunnel_compile_text(${target})
  endif()
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:-fPIC;-Winvalid-pch;${windtunnel_cached_headers}>"
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow;\
-Wno-stringop-overread>")
endfunction()

# windtunnel_compile_together(TARGET [folder ...]): sources of one folder are compiled together, a few
# at a time, so that what their headers cost (JSON above all) is paid once for them; those of the
# folders named alone, for they use one name for unlike things. With WINDTUNNEL_TOGETHER=1 all are:
# that is quicker after a change of one file, and shows a file that leans on another's includes.
set(WINDTUNNEL_TOGETHER 6 CACHE STRING "How many sources of a folder are compiled together; 1: none")
function(windtunnel_compile_together target)
  if(WINDTUNNEL_TOGETHER LESS 2)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(TRANSFORM ARGN PREPEND / OUTPUT_VARIABLE alone)  # "" would be in an empty list
  foreach(source IN LISTS sources)
    cmake_path(GET source EXTENSION LAST_ONLY extension)
    cmake_path(GET source PARENT_PATH folder)
    if(NOT extension STREQUAL ".cpp" OR "/${folder}" IN_LIST alone)
      continue()
    endif()
    string(MAKE_C_IDENTIFIER "of_${folder}" room)
    math(EXPR ${room} "${${room}} + 1")
    math(EXPR part "(${${room}} - 1) / ${WINDTUNNEL_TOGETHER}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room}_${part})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# windtunnel_library(NAME SOURCES a.cpp b.cpp LINKS fmt::fmt wt_models [HEADERS json_headers|none]
#   [ALONE folder ...])
function(windtunnel_library name)
  cmake_parse_arguments(ARG "" "HEADERS" "SOURCES;LINKS;PRIVATE_LINKS;ALONE" ${ARGN})
  if(NOT ARG_HEADERS)
    set(ARG_HEADERS common_headers)
  endif()
  add_library(${name} STATIC ${ARG_SOURCES})
  if(NOT ARG_HEADERS STREQUAL none)
    windtunnel_compile_together(${name} ${ARG_ALONE})
    windtunnel_use_headers(${name} ${ARG_HEADERS})
  endif()
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
  windtunnel_options(${name})
endfunction()

# windtunnel_unused(NAME a.cpp): what a build without CUDA has in place of this build's; compiled, so
# that a change that breaks it is seen here.
function(windtunnel_unused name)
  add_library(${name} OBJECT ${ARGN})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  windtunnel_options(${name})
endfunction()

# windtunnel_test(NAME SOURCES a_test.cpp LINKS wt_models [LABEL fast|long|gpu] [PREFIX Name.]
#   [LONG FILTER])
# One GoogleTest executable; CTest sees each of its tests, or each of its suites (add_tests.cmake).
# A test that needs a GPU is labelled
# `fast-gpu`, which both `ctest -L fast` and `-L gpu` select: on a machine without a GPU it shows
# up by name as skipped, instead of not at all. Of one whose tests CTest knows from another, PREFIX
# comes before their names; those that GoogleTest's filter LONG chooses are labelled `long`.
function(windtunnel_test name)
  cmake_parse_arguments(ARG "" "LABEL;PREFIX;LONG" "SOURCES;LINKS" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL fast)
  elseif(ARG_LABEL STREQUAL gpu)
    set(ARG_LABEL fast-gpu)
  endif()
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_SOURCES})
  windtunnel_compile_together(${name})
  windtunnel_use_headers(${name} test_headers)
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} GTest::gmock GTest::gtest GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE WINDTUNNEL_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  windtunnel_options(${name})
  windtunnel_compile_lightly(${name})
  # Debug information would be four fifths of a test's file and half of the time to link it. Debuggers
  # find it in the sanitizers' builds.
  target_link_options(${name} PRIVATE "$<$<CONFIG:RelWithDebInfo>:LINKER:--strip-debug>")
  if(ARG_LABEL STREQUAL fast-gpu)
    windtunnel_use_carried_libraries(${name})
  endif()
  # A fast test takes a minute at most, under sanitizers five: one that does not end is a failure soon.
  set(long_s 3600)
  set(limit_s 600)
  if(ARG_LABEL STREQUAL long)
    set(limit_s ${long_s})
  endif()
  set(added "")
  if(ARG_LONG)
    set(added "windtunnel_add_tests([[${ARG_LONG}]] long ${long_s} ${name}_long)\n")
    set(ARG_LONG -${ARG_LONG})
  endif()
  string(APPEND added "windtunnel_add_tests([[${ARG_LONG}]] ${ARG_LABEL} ${limit_s} ${name})\n")
  set(tests ${CMAKE_CURRENT_BINARY_DIR}/${name}_tests.cmake)
  file(GENERATE OUTPUT ${tests} CONTENT "include(\"${CMAKE_SOURCE_DIR}/cmake/add_tests.cmake\")
set(program \"$<TARGET_FILE:${name}>\")
set(emulator ${CMAKE_CROSSCOMPILING_EMULATOR})
set(folder \"${CMAKE_CURRENT_BINARY_DIR}\")
set(prefix \"${ARG_PREFIX}\")
${added}")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${tests})
endfunction()

# windtunnel_room_tests(FOLDER LINKS wt_models [EXCEPT a_test.cpp ...] [LABEL gpu] [LONG FILTER]): one
# executable of all sources in the folder and below it but for long tests (_long_test.cpp) and those of GPUs
# (_gpu_test.cpp); of the latter alone with LABEL gpu. A test that is added there needs no row.
function(windtunnel_room_tests folder)
  cmake_parse_arguments(ARG "" "LABEL;LONG" "LINKS;EXCEPT" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${folder}/*.cpp)
  set(name ${folder}_test)
  if(ARG_LABEL)
    list(FILTER sources INCLUDE REGEX "_${ARG_LABEL}_test\\.cpp$")
    set(name ${folder}_${ARG_LABEL}_test)
  else()
    list(FILTER sources EXCLUDE REGEX "_(gpu|long)_test\\.cpp$")
  endif()
  list(REMOVE_ITEM sources "" ${ARG_EXCEPT})
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/tests
    OUTPUT_VARIABLE floor)
  string(MAKE_C_IDENTIFIER ${floor}_${name} name)
  windtunnel_test(${name} SOURCES ${sources} LINKS ${ARG_LINKS} LABEL ${ARG_LABEL} LONG ${ARG_LONG})
endfunction()

# windtunnel_bench(NAME SOURCES a_bench.cpp LINKS wt_models): a Google Benchmark executable.
# The sources bring their own main() (BENCHMARK_MAIN() or more).
function(windtunnel_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  find_package(benchmark REQUIRED)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} benchmark::benchmark)
  target_compile_definitions(${name} PRIVATE WINDTUNNEL_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  windtunnel_options(${name})
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)  # target benchmarks has them
  add_dependencies(benchmarks ${name})
endfunction()

# windtunnel_find_beside(NAME FOLDER): installed, NAME looks for shared libraries in FOLDER, seen from
# its own, before the system's: where an unpacked tarball has them. As DT_RPATH, which holds for what
# those libraries need too.
function(windtunnel_find_beside name folder)
  set_property(TARGET ${name} APPEND PROPERTY INSTALL_RPATH "$ORIGIN/${folder}")
  target_link_options(${name} PRIVATE -Wl,--disable-new-dtags)
endfunction()

# windtunnel_use_carried_libraries(NAME): with WINDTUNNEL_CARRY_LIBRARIES the executable looks for
# shared libraries in ../lib beside its folder first.
function(windtunnel_use_carried_libraries name)
  if(NOT WINDTUNNEL_CARRY_LIBRARIES)
    return()
  endif()
  set_target_properties(${name} PROPERTIES
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../lib")
  # As DT_RPATH, which holds for what the libraries need too, and before LD_LIBRARY_PATH.
  target_link_options(${name} PRIVATE -Wl,--disable-new-dtags -Wl,--as-needed)
endfunction()

# windtunnel_carry_libraries(NAME): the same, and its libraries get there when it is built: all but
# those of glibc. Those folders run where only these are. Of one executable: others use some of its.
function(windtunnel_carry_libraries name)
  if(NOT WINDTUNNEL_CARRY_LIBRARIES)
    return()
  endif()
  windtunnel_use_carried_libraries(${name})
  add_custom_command(TARGET ${name} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${name}>
      -DFOLDER=${CMAKE_BINARY_DIR}/lib -P ${CMAKE_SOURCE_DIR}/cmake/carry_libraries.cmake
    VERBATIM)
endfunction()
