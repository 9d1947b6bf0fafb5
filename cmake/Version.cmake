# The header windtunnel_version.hpp: the program's version and the commit that is built, looked up by
# every build, so that no result names another one. Without git or its folder the commit is empty.
#
# Included it makes the target windtunnel_version; run as a script it writes the header, where that
# has changed only.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(WINDTUNNEL_VERSION_FOLDER ${CMAKE_BINARY_DIR}/version)
  set(header ${WINDTUNNEL_VERSION_FOLDER}/windtunnel_version.hpp)
  set(write ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DVERSION=${PROJECT_VERSION}
            -DHEADER=${header} -P ${CMAKE_CURRENT_LIST_FILE})
  execute_process(COMMAND ${write} COMMAND_ERROR_IS_FATAL ANY)  # for what reads sources unbuilt
  add_custom_target(windtunnel_version COMMAND ${write} BYPRODUCTS ${header} VERBATIM)
  return()
endif()

set(commit "")
find_program(GIT git)
if(GIT AND EXISTS ${SOURCE}/.git)  # not of a repository that a tarball was unpacked in
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_VARIABLE refusal)
  if(NOT commit)
    message(WARNING "results will not name their commit: ${refusal}")
  endif()
  execute_process(COMMAND ${GIT} --no-optional-locks -C ${SOURCE} status --porcelain -uno
    OUTPUT_VARIABLE changes ERROR_QUIET)
  # A source that git does not know yet may be built, too.
  execute_process(COMMAND ${GIT} -C ${SOURCE} ls-files --others --exclude-standard --
    "*.cpp" "*.hpp" "*.cu" "*.cuh" "*.js" scenarios/library
    OUTPUT_VARIABLE unknown ERROR_QUIET)
  string(APPEND changes "${unknown}")
  if(commit AND changes)
    string(APPEND commit "-changed")
  endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} @ONLY CONTENT [[
#define WINDTUNNEL_VERSION "@VERSION@"
#define WINDTUNNEL_COMMIT "@commit@"
]])
