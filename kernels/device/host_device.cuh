// WINDTUNNEL_BOTH: a function of kernels that compiles for the host too, where tests hold it to its
// definition.
#pragma once

#ifdef __CUDACC__
#define WINDTUNNEL_BOTH __host__ __device__
#else
#define WINDTUNNEL_BOTH
#endif
