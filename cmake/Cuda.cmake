# The CUDA language, where the toolkit is present; WINDTUNNEL_HAS_CUDA says whether it is on, and
# WINDTUNNEL_HAS_CUBLAS whether cuBLAS and cuBLASLt are there too (CUDA::cublas, CUDA::cublasLt).

option(WINDTUNNEL_CUDA "Build the CUDA parts where the toolkit is present" ON)
set(WINDTUNNEL_HAS_CUDA OFF)
set(WINDTUNNEL_HAS_CUBLAS OFF)
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
  else()
    message(STATUS "No CUDA toolkit found: the CUDA parts are left out")
  endif()
endif()
