# The CUDA language, where the toolkit is present; WINDTUNNEL_HAS_CUDA says whether it is on,
# WINDTUNNEL_HAS_CUBLAS whether cuBLAS and cuBLASLt are there too (CUDA::cublas, CUDA::cublasLt), and
# WINDTUNNEL_HAS_NCCL whether NCCL's header is (WINDTUNNEL_NCCL_INCLUDE): the library is opened at
# run time, at last by the name WINDTUNNEL_NCCL_LIBRARY.

option(WINDTUNNEL_CUDA "Build the CUDA parts where the toolkit is present" ON)
set(WINDTUNNEL_HAS_CUDA OFF)
set(WINDTUNNEL_HAS_CUBLAS OFF)
set(WINDTUNNEL_HAS_NCCL OFF)
set(WINDTUNNEL_NCCL_LIBRARY "")
if(WINDTUNNEL_CUDA)
  # The toolkit's usual place is not always in PATH.
  find_program(NVCC nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
  mark_as_advanced(NVCC)
  if(NVCC AND NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    set(CMAKE_CUDA_COMPILER ${NVCC} CACHE FILEPATH "CUDA compiler")
  endif()
  # Set explicitly: CMake's "all" starts below what the toolkit supports, "native" needs a device.
  set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "Device architectures to compile for")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    set(CMAKE_CUDA_STANDARD 17)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(WINDTUNNEL_HAS_CUDA ON)
    find_package(CUDAToolkit REQUIRED)
    if(TARGET CUDA::cublas AND TARGET CUDA::cublasLt AND
       EXISTS ${CUDAToolkit_INCLUDE_DIRS}/cublasLt.h)
      set(WINDTUNNEL_HAS_CUBLAS ON)
    else()
      message(STATUS "No cuBLAS found: matrix products on CUDA are left out")
    endif()
    find_path(NCCL_INCLUDE_DIR nccl.h
      HINTS ${CUDAToolkit_INCLUDE_DIRS} $ENV{NCCL_HOME}/include)
    find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2
      HINTS ${CUDAToolkit_LIBRARY_DIR} $ENV{NCCL_HOME}/lib)
    mark_as_advanced(NCCL_INCLUDE_DIR NCCL_LIBRARY)
    if(NCCL_INCLUDE_DIR)
      set(WINDTUNNEL_HAS_NCCL ON)
      set(WINDTUNNEL_NCCL_INCLUDE ${NCCL_INCLUDE_DIR})
      if(NCCL_LIBRARY)
        set(WINDTUNNEL_NCCL_LIBRARY ${NCCL_LIBRARY})
      endif()
    else()
      message(STATUS "No NCCL found: collectives between GPUs are left out")
    endif()
  else()
    message(STATUS "No CUDA toolkit found: the CUDA parts are left out")
  endif()
endif()
