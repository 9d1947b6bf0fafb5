# Runs PROGRAM; its output must be what stands in EXPECTED.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
file(READ ${EXPECTED} expected)
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "expected:\n${expected}\nprinted:\n${output}")
endif()
