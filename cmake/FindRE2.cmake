# RE2 for find_package: Debian ships pkg-config data only, whose -pthread the precompiled headers of
# the tests do not have.
#
#   find_package(RE2 REQUIRED)
#   target_link_libraries(target PRIVATE RE2::RE2)

find_path(RE2_INCLUDE_DIR re2/re2.h)
find_library(RE2_LIBRARY re2)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(RE2
  REQUIRED_VARS RE2_LIBRARY RE2_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Debian package: libre2-dev")

if(RE2_FOUND AND NOT TARGET RE2::RE2)
  add_library(RE2::RE2 UNKNOWN IMPORTED)
  set_target_properties(RE2::RE2 PROPERTIES
    IMPORTED_LOCATION ${RE2_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${RE2_INCLUDE_DIR})
endif()
mark_as_advanced(RE2_INCLUDE_DIR RE2_LIBRARY)
