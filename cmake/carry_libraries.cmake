# Copies the shared libraries that PROGRAM needs into FOLDER, but for glibc's: those go with the
# loader and the kernel of a machine.
file(REMOVE_RECURSE ${FOLDER})  # else an earlier copy is found beside the system's
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${PROGRAM}
  RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread|resolv)\\.so" "^ld-linux" "^linux-vdso")
if(missing)
  message(FATAL_ERROR "not found: ${missing}")
endif()
foreach(library IN LISTS found)
  cmake_path(GET library FILENAME name)
  file(REAL_PATH ${library} file)
  file(MAKE_DIRECTORY ${FOLDER})
  file(COPY_FILE ${file} ${FOLDER}/${name})
endforeach()
