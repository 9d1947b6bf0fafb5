# What is installed beside the program and its library, and the Debian package of all of it.
include(GNUInstallDirs)

# The manual page and the completions, which the program prints, and the changes, as Debian packs them.
set(shell ${CMAKE_BINARY_DIR}/shell)
set(program $<TARGET_FILE:windtunnel>)
set(programs windtunnel)
if(WINDTUNNEL_VALIDATE)
  list(APPEND programs windtunnel-validate)  # of whose commands the manual page tells, too
endif()
find_program(GZIP_PROGRAM gzip REQUIRED)
set(pack ${GZIP_PROGRAM} -9n)
file(CONFIGURE OUTPUT ${shell}/changelog.Debian @ONLY CONTENT [[
windtunnel (@PROJECT_VERSION@-1) unstable; urgency=medium

  * Packed from the source tree; changelog.gz says what has changed.

 -- The authors of Windtunnel <windtunnel@localhost>  Thu, 01 Jan 1970 00:00:00 +0000
]])
add_custom_command(
  OUTPUT ${shell}/windtunnel.1.gz ${shell}/windtunnel.bash ${shell}/_windtunnel ${shell}/windtunnel.fish
    ${shell}/changelog.gz ${shell}/changelog.Debian.gz
  COMMAND ${CMAKE_COMMAND} -E make_directory ${shell}
  COMMAND ${program} man | ${pack} > ${shell}/windtunnel.1.gz
  COMMAND ${program} completion bash > ${shell}/windtunnel.bash
  COMMAND ${program} completion zsh > ${shell}/_windtunnel
  COMMAND ${program} completion fish > ${shell}/windtunnel.fish
  COMMAND ${pack} < ${CMAKE_SOURCE_DIR}/CHANGELOG.md > ${shell}/changelog.gz
  COMMAND ${pack} < ${shell}/changelog.Debian > ${shell}/changelog.Debian.gz
  DEPENDS ${programs} ${CMAKE_SOURCE_DIR}/CHANGELOG.md ${shell}/changelog.Debian VERBATIM)
add_custom_target(windtunnel_shell DEPENDS ${shell}/windtunnel.1.gz)
install(FILES ${shell}/windtunnel.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
  COMPONENT program OPTIONAL)
install(FILES ${shell}/windtunnel.bash RENAME windtunnel COMPONENT program OPTIONAL
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${shell}/_windtunnel COMPONENT program OPTIONAL
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${shell}/windtunnel.fish COMPONENT program OPTIONAL
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${shell}/changelog.gz ${shell}/changelog.Debian.gz COMPONENT program OPTIONAL
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES cmake/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME windtunnel)
set(CPACK_PACKAGE_CONTACT "The authors of Windtunnel <windtunnel@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "predicts large training jobs before a cluster is rented")
set(CPACK_PACKAGE_DESCRIPTION
"Windtunnel predicts how long an iteration of a training job takes under a
layout, a pipeline schedule, a network and a compressor, and what of months
of it becomes progress under failures, snapshots and spares. Here are the
program, the C++ library with its headers, and the Python package.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program library python)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
# CPack would make it, and warn of Python's extension, which is not for linking.
set(shlibs ${CMAKE_BINARY_DIR}/package/shlibs)
file(CONFIGURE OUTPUT ${shlibs} @ONLY CONTENT
  "libwindtunnel @PROJECT_VERSION_MAJOR@.@PROJECT_VERSION_MINOR@ windtunnel (>= @PROJECT_VERSION@)\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${shlibs})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/report/api)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# The extension is of one version of Python's.
if(TARGET windtunnel_python)
  math(EXPR next "${Python_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PACKAGE_DEPENDS
    "python3 (>= 3.${Python_VERSION_MINOR}), python3 (<< 3.${next})")
endif()
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-pandas")
set(CPACK_OUTPUT_FILE_PREFIX ${CMAKE_BINARY_DIR}/packages)
include(CPack)
