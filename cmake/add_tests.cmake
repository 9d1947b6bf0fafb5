# Read by ctest: adds the tests of one GoogleTest program, each by its name. With
# WINDTUNNEL_WHOLE_SUITES=1 in the environment the fast tests of a suite run in one process, under
# the suite's name: what every process does first (loading libraries, reading the library of
# scenarios) is then done once for all of them. Parametrised suites of few cases stay apart.

# Writes the names of the program's tests to a file, again whenever the program or the filter changed.
function(windtunnel_list_tests program filter list)
  # CMAKE_CURRENT_LIST_FILE is the generated NAME_tests.cmake, which has the filter.
  if(EXISTS "${list}" AND NOT "${program}" IS_NEWER_THAN "${list}"
     AND NOT "${CMAKE_CURRENT_LIST_FILE}" IS_NEWER_THAN "${list}")
    return()
  endif()
  if(NOT filter)
    set(filter *)
  endif()
  execute_process(COMMAND ${emulator} "${program}" --gtest_list_tests --gtest_filter=${filter}
    OUTPUT_VARIABLE text RESULT_VARIABLE failed TIMEOUT 60)
  if(failed)
    message(FATAL_ERROR "${program} does not list its tests: ${failed}")
  endif()
  string(REGEX REPLACE " *#[^\n]*" "" text "${text}")
  string(REGEX REPLACE "^Running main[^\n]*\n" "" text "${text}")
  string(REGEX REPLACE "(^|\n)(  )?[A-Za-z0-9_/]+\\.?" "" others "${text}")
  string(STRIP "${others}" others)
  if(others)
    message(FATAL_ERROR "${program} has tests whose names are not made of words:\n${others}")
  endif()
  if(text MATCHES "DISABLED_")
    message(FATAL_ERROR "${program} has a disabled test, which would pass without running")
  endif()
  file(WRITE "${list}" "${text}")
endfunction()

# Adds the tests that the filter chooses, with one label. Uses program, emulator, folder and prefix of
# its caller.
function(windtunnel_add_tests filter label timeout_s list)
  if(NOT EXISTS "${program}")
    add_test(${prefix}NOT_BUILT_${list} "${program}")
    set_tests_properties(${prefix}NOT_BUILT_${list} PROPERTIES LABELS "${label}")
    return()
  endif()
  windtunnel_list_tests("${program}" "${filter}" "${folder}/${list}.txt")
  set(wanted FALSE)
  if(label MATCHES "^fast" AND "$ENV{WINDTUNNEL_WHOLE_SUITES}")
    set(wanted TRUE)
    math(EXPR timeout_s "3 * ${timeout_s}")
  endif()
  string(REGEX MATCH "-.*" excluded "${filter}")
  set(common WORKING_DIRECTORY ${folder} LABELS "${label}" TIMEOUT ${timeout_s})
  file(READ "${folder}/${list}.txt" text)
  string(REGEX MATCHALL "[^ \n][^\n]*(\n  [^\n]+)+" suites "${text}")
  foreach(block IN LISTS suites)
    string(REGEX MATCH "^[^\n]+" suite "${block}")
    string(REGEX MATCHALL "\n  [^\n]+" cases "${block}")
    list(LENGTH cases count)
    # A parametrised suite of few cases has long ones, which can run at the same time.
    if(wanted AND (NOT suite MATCHES "/" OR count GREATER 20))
      string(REGEX REPLACE "\\.$" "" name ${suite})
      add_test(${prefix}${name} ${emulator} "${program}" --gtest_filter=${suite}*${excluded})
      # The output ends with the skipped tests or, if a test failed, with the failed ones.
      set_tests_properties(${prefix}${name} PROPERTIES ${common}
        SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\] [A-Za-z0-9_/.]+\n$")
      continue()
    endif()
    foreach(case IN LISTS cases)
      string(STRIP ${case} name)
      add_test(${prefix}${suite}${name} ${emulator} "${program}" --gtest_filter=${suite}${name})
      set_tests_properties(${prefix}${suite}${name} PROPERTIES ${common}
        SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
    endforeach()
  endforeach()
endfunction()
