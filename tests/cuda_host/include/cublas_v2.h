#pragma once

#include <cublasLt.h>

using cublasHandle_t = struct cublasContext*;

cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, std::size_t size);
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t a_form,
                                         cublasOperation_t b_form, int m, int n, int k,
                                         const float* alpha, const float* a, int a_stride,
                                         long long a_step, const float* b, int b_stride,
                                         long long b_step, const float* beta, float* c,
                                         int c_stride, long long c_step, int count);
