# cpp-httplib as Debian has it, compiled and without a package of CMake's: target httplib::httplib.
find_path(httplib_INCLUDE_DIR httplib.h)
find_library(httplib_LIBRARY cpp-httplib)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(httplib REQUIRED_VARS httplib_LIBRARY httplib_INCLUDE_DIR)
# Its header has code of its own that calls it, from version 0.18 on.
find_package(OpenSSL REQUIRED)
if(httplib_FOUND AND NOT TARGET httplib::httplib)
  add_library(httplib::httplib UNKNOWN IMPORTED)
  # As Debian compiled it: they decide what its classes hold.
  set_target_properties(httplib::httplib PROPERTIES
    IMPORTED_LOCATION ${httplib_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${httplib_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES OpenSSL::Crypto
    INTERFACE_COMPILE_DEFINITIONS
      "CPPHTTPLIB_BROTLI_SUPPORT;CPPHTTPLIB_OPENSSL_SUPPORT;CPPHTTPLIB_ZLIB_SUPPORT")
endif()
