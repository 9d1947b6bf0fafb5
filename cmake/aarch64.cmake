# A toolchain file: compile on x86-64 for Linux on aarch64, with Debian's cross compiler and the
# libraries that dpkg has for arm64 (CONTRIBUTING.md). Programs of the target run where QEMU's
# emulation of a user's programs is installed; without it tests are compiled alone.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CXX_FLAGS_INIT -Wno-psabi)  # notes of what GCC passed otherwise before version 10
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
# Python's extension is named after the target's Python.
set(ENV{_PYTHON_SYSCONFIGDATA_NAME} _sysconfigdata__aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
find_program(EMULATOR_PROGRAM NAMES qemu-aarch64-static qemu-aarch64)
if(EMULATOR_PROGRAM)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${EMULATOR_PROGRAM})
endif()
