// cublas.cpp: a stand-in for cuBLAS on the stand-in for the driver. It refuses what NVIDIA's manual says that cuBLAS refuses, and
// what it says that a caller must not do; products are plain loops. No header of cuBLAS is needed: its interface is below.
#include "state.h"

using namespace stand_in;

struct cublasContext {
  int device;
  CUstream stream;
  CUdeviceptr workspace;
  size_t size;
  int math;
};
using Handle = cublasContext*;

namespace {

enum Status { SUCCESS = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 7, NULL_POINTER = INVALID_VALUE, FAILED = 13 };
constexpr int TF32 = 3;  // CUBLAS_TF32_TENSOR_OP_MATH

}  // namespace
#include "vendor.h"
namespace {

template <class T>
T factor(T value, bool rounded) { return rounded && sizeof(T) == 4 ? T(as_tf32(float(value))) : value; }

template <class T>
Status multiply(const char* who, Handle handle, int ta, int tb, int m, int n, int k, const T* alpha, CUdeviceptr a, int lda,
                long long step_a, CUdeviceptr b, int ldb, long long step_b, const T* beta, CUdeviceptr c, int ldc, long long step_c,
                int count) {
  NEED_HANDLE(who);
  if (m < 0 || n < 0 || k < 0 || count < 0) return refuse(INVALID_VALUE, text("%s: m %d, n %d, k %d, %d products", who, m, n, k, count));
  if (ta < 0 || ta > 2 || tb < 0 || tb > 2) return refuse(INVALID_VALUE, text("%s: transposes %d and %d", who, ta, tb));
  const int rows_a = ta ? k : m, columns_a = ta ? m : k, rows_b = tb ? n : k, columns_b = tb ? k : n;
  if (lda < std::max(1, rows_a)) return refuse(INVALID_VALUE, text("%s: lda %d, needs %d", who, lda, std::max(1, rows_a)));
  if (ldb < std::max(1, rows_b)) return refuse(INVALID_VALUE, text("%s: ldb %d, needs %d", who, ldb, std::max(1, rows_b)));
  if (ldc < std::max(1, m)) return refuse(INVALID_VALUE, text("%s: ldc %d, needs %d", who, ldc, std::max(1, m)));
  if (alpha == nullptr || beta == nullptr) return refuse(INVALID_VALUE, text("%s: alpha or beta is null", who));
  if (count > 1 && step_c < (long long)ldc * (n - 1) + m) return refuse(INVALID_VALUE, text("%s: products overlap in C", who));
  if (m == 0 || n == 0 || count == 0) return SUCCESS;
  auto range = [&](const char* what, CUdeviceptr at, long long ld, int rows, int columns, long long step) -> Status {
    if (rows == 0 || columns == 0) return SUCCESS;
    const size_t last = (count - 1) * step + (columns - 1) * ld + rows;
    if (step < 0 || at % sizeof(T) || need_memory(text("%s, %s", who, what).c_str(), at, last * sizeof(T)))
      return refuse(FAILED, complaint.empty() ? text("%s, %s: misaligned", who, what) : complaint);
    return SUCCESS;
  };
  if (Status seen = range("A", a, lda, rows_a, columns_a, step_a)) return seen;
  if (Status seen = range("B", b, ldb, rows_b, columns_b, step_b)) return seen;
  if (Status seen = range("C", c, ldc, m, n, step_c)) return seen;
  if (capturing && handle->workspace == 0)
    return refuse(FAILED, text("%s: captured without a workspace of the caller's: it would be allocated in the capture", who));
  if (need_stream(who, handle->stream)) return refuse(FAILED, complaint);
  ++counts[LIBRARY_CALLS];
  if (null_launches && !capturing) return SUCCESS;
  const T by = *alpha, kept = *beta;  // read at the call, as with CUBLAS_POINTER_MODE_HOST
  const bool rounded = handle->math == TF32;
  const CUdeviceptr workspace = handle->workspace;
  const size_t size = handle->size;
  later(stream_of(handle->stream), [=]() -> CUresult {
    for (CUdeviceptr at : {k ? a : c, k ? b : c, c})
      if (holder(at, sizeof(T)) == live.end()) return fault(CUDA_ERROR_ILLEGAL_ADDRESS, text("%s: memory is freed by now", who));
    if (workspace) memset((void*)workspace, FRESH, size);
    spent += kernel_ms;
    for (int p = 0; p < count; ++p) {
      const T *x = (const T*)a + p * step_a, *y = (const T*)b + p * step_b;
      T* to = (T*)c + p * step_c;
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
          double sum = 0;
          for (long long q = 0; q < k; ++q)
            sum += double(factor(ta ? x[i * (long long)lda + q] : x[q * lda + i], rounded)) *
                   double(factor(tb ? y[q * ldb + j] : y[j * (long long)ldb + q], rounded));
          T& at = to[j * (long long)ldc + i];
          at = kept == 0 ? T(by * sum) : T(by * sum + kept * at);
        }
    }
    return CUDA_SUCCESS;
  });
  return SUCCESS;
}

}  // namespace

extern "C" {

Status cublasCreate_v2(Handle* made) { return make_handle("cublasCreate", made); }
Status cublasDestroy_v2(Handle handle) { return destroy_handle("cublasDestroy", handle); }
Status cublasSetStream_v2(Handle handle, CUstream stream) {
  NEED_HANDLE("cublasSetStream");
  if (stream && need_stream("cublasSetStream", stream)) return refuse(INVALID_VALUE, complaint);
  handle->stream = stream;
  handle->workspace = handle->size = 0;  // the manual: it resets the workspace to the default one
  return SUCCESS;
}
Status cublasSetWorkspace_v2(Handle handle, CUdeviceptr at, size_t size) {
  NEED_HANDLE("cublasSetWorkspace");
  if (at % 256) return refuse(INVALID_VALUE, "cublasSetWorkspace: the address must be a multiple of 256");
  if (size && need_memory("cublasSetWorkspace", at, size)) return refuse(INVALID_VALUE, complaint);
  handle->workspace = at;
  handle->size = size;
  return SUCCESS;
}
Status cublasSetMathMode(Handle handle, int mode) {
  NEED_HANDLE("cublasSetMathMode");
  if (mode != 0 && mode != TF32) return refuse(INVALID_VALUE, text("cublasSetMathMode: %d", mode));
  handle->math = mode;
  return SUCCESS;
}
Status cublasGetProperty(int which, int* made) { *made = which == 0 ? 13 : 0; return SUCCESS; }
const char* cublasGetStatusString(Status status) {
  static thread_local std::string kept;
  kept = (status == INVALID_VALUE ? "an unsupported value or parameter was passed" : "the call failed") +
         (said.empty() ? std::string() : " (" + said + ")");
  said.clear();
  return kept.c_str();
}
Status cublasSgemm_v2(Handle handle, int ta, int tb, int m, int n, int k, const float* alpha, CUdeviceptr a, int lda, CUdeviceptr b,
                      int ldb, const float* beta, CUdeviceptr c, int ldc) {
  return multiply("cublasSgemm", handle, ta, tb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);
}
Status cublasDgemm_v2(Handle handle, int ta, int tb, int m, int n, int k, const double* alpha, CUdeviceptr a, int lda, CUdeviceptr b,
                      int ldb, const double* beta, CUdeviceptr c, int ldc) {
  return multiply("cublasDgemm", handle, ta, tb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);
}
Status cublasSgemmStridedBatched(Handle handle, int ta, int tb, int m, int n, int k, const float* alpha, CUdeviceptr a, int lda,
                                 long long step_a, CUdeviceptr b, int ldb, long long step_b, const float* beta, CUdeviceptr c,
                                 int ldc, long long step_c, int count) {
  return multiply("cublasSgemmStridedBatched", handle, ta, tb, m, n, k, alpha, a, lda, step_a, b, ldb, step_b, beta, c, ldc, step_c, count);
}
Status cublasDgemmStridedBatched(Handle handle, int ta, int tb, int m, int n, int k, const double* alpha, CUdeviceptr a, int lda,
                                 long long step_a, CUdeviceptr b, int ldb, long long step_b, const double* beta, CUdeviceptr c,
                                 int ldc, long long step_c, int count) {
  return multiply("cublasDgemmStridedBatched", handle, ta, tb, m, n, k, alpha, a, lda, step_a, b, ldb, step_b, beta, c, ldc, step_c, count);
}
}
