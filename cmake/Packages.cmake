# What is installed beside the program and its library, and the Debian package of all of it.
include(GNUInstallDirs)

# The manual page and the completions, which the program prints.
set(shell ${CMAKE_BINARY_DIR}/shell)
set(program $<TARGET_FILE:windtunnel>)
add_custom_command(
  OUTPUT ${shell}/windtunnel.1 ${shell}/windtunnel.bash ${shell}/_windtunnel ${shell}/windtunnel.fish
  COMMAND ${CMAKE_COMMAND} -E make_directory ${shell}
  COMMAND ${program} man > ${shell}/windtunnel.1
  COMMAND ${program} completion bash > ${shell}/windtunnel.bash
  COMMAND ${program} completion zsh > ${shell}/_windtunnel
  COMMAND ${program} completion fish > ${shell}/windtunnel.fish
  DEPENDS windtunnel VERBATIM)
add_custom_target(windtunnel_shell DEPENDS ${shell}/windtunnel.1)
install(FILES ${shell}/windtunnel.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
  COMPONENT program OPTIONAL)
install(FILES ${shell}/windtunnel.bash RENAME windtunnel COMPONENT program OPTIONAL
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${shell}/_windtunnel COMPONENT program OPTIONAL
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${shell}/windtunnel.fish COMPONENT program OPTIONAL
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME windtunnel)
set(CPACK_PACKAGE_CONTACT "The authors of Windtunnel <windtunnel@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "predicts large training jobs before a cluster is rented")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program library python)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/report/api)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "python3")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-pandas")
set(CPACK_OUTPUT_FILE_PREFIX ${CMAKE_BINARY_DIR}/packages)
include(CPack)
