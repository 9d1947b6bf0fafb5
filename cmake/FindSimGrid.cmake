# SimGrid for find_package: Debian ships no CMake package for it, only pkg-config data.
#
#   find_package(SimGrid 3.32 REQUIRED)
#   target_link_libraries(engine PRIVATE SimGrid::SimGrid)
#
# An imported target's headers are SYSTEM includes: our warnings stay about our code.
# Only sim/engine may use the target; tests/house checks the includes.

find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(PC_SIMGRID QUIET simgrid)
endif()

find_path(SimGrid_INCLUDE_DIR simgrid/s4u.hpp HINTS ${PC_SIMGRID_INCLUDE_DIRS})
find_library(SimGrid_LIBRARY simgrid HINTS ${PC_SIMGRID_LIBRARY_DIRS})

# pkg-config may be missing or speak of another copy: the header found is what compiles.
if(SimGrid_INCLUDE_DIR AND EXISTS ${SimGrid_INCLUDE_DIR}/simgrid/version.h)
  set(SimGrid_VERSION)
  foreach(part MAJOR MINOR PATCH)
    file(STRINGS ${SimGrid_INCLUDE_DIR}/simgrid/version.h line
         REGEX "^#define SIMGRID_VERSION_${part} +[0-9]+")
    string(REGEX MATCH "[0-9]+" number "${line}")
    list(APPEND SimGrid_VERSION ${number})
  endforeach()
  list(JOIN SimGrid_VERSION "." SimGrid_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SimGrid
  REQUIRED_VARS SimGrid_LIBRARY SimGrid_INCLUDE_DIR
  VERSION_VAR SimGrid_VERSION
  REASON_FAILURE_MESSAGE "Debian package: libsimgrid-dev")

if(SimGrid_FOUND AND NOT TARGET SimGrid::SimGrid)
  add_library(SimGrid::SimGrid UNKNOWN IMPORTED)
  set_target_properties(SimGrid::SimGrid PROPERTIES
    IMPORTED_LOCATION ${SimGrid_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${SimGrid_INCLUDE_DIR})
endif()
mark_as_advanced(SimGrid_INCLUDE_DIR SimGrid_LIBRARY)
