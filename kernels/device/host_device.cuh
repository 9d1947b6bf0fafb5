// WINDTUNNEL_BOTH marks a function of kernels that also compiles for the host, where tests compare
// it with its definition.
#pragma once

#ifdef __CUDACC__
#define WINDTUNNEL_BOTH __host__ __device__
#else
#define WINDTUNNEL_BOTH
#endif
