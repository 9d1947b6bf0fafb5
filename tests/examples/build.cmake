# Installs the library of the build folder BUILD in OUTSIDE/prefix and builds the project EXAMPLES
# against it, from a copy.
function(run)
  execute_process(COMMAND ${CMAKE_COMMAND} ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${OUTSIDE})
file(COPY ${EXAMPLES}/ DESTINATION ${OUTSIDE}/examples)
run(--install ${BUILD} --component library --prefix ${OUTSIDE}/prefix)
run(-S ${OUTSIDE}/examples -B ${OUTSIDE}/build -G ${GENERATOR}
  -DCMAKE_PREFIX_PATH=${OUTSIDE}/prefix -DCMAKE_CXX_COMPILER=${COMPILER}
  "-DCMAKE_CXX_FLAGS=-O0 -Wall -Wextra -Werror ${FLAGS}")
run(--build ${OUTSIDE}/build)
