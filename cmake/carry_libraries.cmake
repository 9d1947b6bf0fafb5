# Copies the shared libraries that PROGRAM (one or several) needs into FOLDER, but for glibc's: those go with the
# loader and the kernel of a machine. FOLDER/copyrights has the licence of each Debian package whose
# libraries these are, as who passes them on has to.
file(REMOVE_RECURSE ${FOLDER})  # else an earlier copy is found beside the system's
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${PROGRAM}
  RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread|resolv)\\.so" "^ld-linux" "^linux-vdso")
if(missing)
  message(FATAL_ERROR "not found: ${missing}")
endif()

# package_of(FILE RESULT): Debian's, or nothing. dpkg may know /usr/lib/... as /lib/...
function(package_of file result)
  string(REGEX REPLACE "^/usr/" "/" merged ${file})
  foreach(path IN ITEMS ${file} ${merged})
    execute_process(COMMAND dpkg-query --search ${path} OUTPUT_VARIABLE owner ERROR_QUIET)
    if(owner MATCHES "^([a-z0-9][a-z0-9.+-]+)(:[a-z0-9]+)?:")
      set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${result} "" PARENT_SCOPE)
endfunction()

foreach(library IN LISTS found)
  cmake_path(GET library FILENAME name)
  file(REAL_PATH ${library} file)
  file(MAKE_DIRECTORY ${FOLDER}/copyrights)
  file(COPY_FILE ${file} ${FOLDER}/${name})
  package_of(${file} package)
  if(package AND EXISTS /usr/share/doc/${package}/copyright)
    file(COPY_FILE /usr/share/doc/${package}/copyright ${FOLDER}/copyrights/${package})
  else()
    message(WARNING "no licence found of ${name}, which is carried along")
  endif()
endforeach()
