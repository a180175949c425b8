// cudnn.cpp: a stand-in for cuDNN's convolutions (the interface of version 7, which cuDNN 9 keeps) on the stand-in for the driver.
// It refuses what NVIDIA's manual says that cuDNN refuses; convolutions are plain loops. An algorithm's workspace is filled with
// NaN, a ReLU makes 0 of NaN (CUDNN_NOT_PROPAGATE_NAN), and a math type other than FMA rounds factors to TF32. Channels may be last, as
// the manual's table for filters of CUDNN_TENSOR_NHWC has it: two axes, float, all arrays in that order and without gaps.
#include "state.h"

using namespace stand_in;

struct cudnnContext { int device; CUstream stream; };
struct cudnnTensorStruct { int type = -1; std::vector<int> dims, steps; };
struct cudnnFilterStruct { int type = -1, format = 0; std::vector<int> dims, steps; };
struct cudnnConvolutionStruct { int type = -1, groups = 1, math = 0; std::vector<int> pad, stride, dilation; };
struct cudnnActivationStruct { int mode = -1, nan = 0; };
struct Perf { int algorithm, status; float time; size_t memory; int determinism, math, reserved[3]; };
using Handle = cudnnContext*;
using Tensor = cudnnTensorStruct*;
using Filter = cudnnFilterStruct*;
using Convolution = cudnnConvolutionStruct*;
using Activation = cudnnActivationStruct*;

namespace {

enum Status { SUCCESS = 0, NOT_INITIALIZED = 1001, BAD_PARAM = 2000, NULL_POINTER = 2002, MISALIGNED = 2003, TOO_SMALL = 2006, STREAM = 2007,
              SHAPE = 2008, NOT_SUPPORTED = 3000, FAILED = 5000 };
constexpr int FLOAT = 0, DOUBLE = 1, FMA = 3, RELU = 1, IDENTITY = 5, PRECOMPUTED = 1, NCHW = 0, NHWC = 1;
enum Kind { FORWARD, DATA, FILTER };
std::vector<void*> descriptors;

}  // namespace
#include "vendor.h"
namespace {

bool known(const void* descriptor) { return std::find(descriptors.begin(), descriptors.end(), descriptor) != descriptors.end(); }
template <class T>
Status make(T** made) {
  Lock hold(mutex);
  descriptors.push_back(*made = new T);
  ++counts[DESCRIPTORS];
  return SUCCESS;
}
template <class T>
Status drop(T* descriptor) {
  Lock hold(mutex);
  if (!known(descriptor)) return refuse(BAD_PARAM, "a descriptor is destroyed twice, or was never made");
  descriptors.erase(std::find(descriptors.begin(), descriptors.end(), (void*)descriptor));
  --counts[DESCRIPTORS];
  delete descriptor;
  return SUCCESS;
}

size_t extent(const std::vector<int>& dims, const std::vector<int>& steps) {
  size_t last = 0;
  for (size_t a = 0; a < dims.size(); ++a) last += size_t(dims[a] - 1) * steps[a];
  return last + 1;
}
// The steps of an array without gaps, whose axis 1 is the last in NHWC.
std::vector<int> packed(const std::vector<int>& dims, int format = NCHW) {
  std::vector<int> steps(dims.size(), 1);
  int step = 1;
  if (format == NHWC) { steps[1] = 1; step = dims[1]; }
  for (size_t a = dims.size(); a-- > 0;) {
    if (format == NHWC && a == 1) continue;
    steps[a] = step;
    step *= dims[a];
  }
  return steps;
}
// Whether an array lies in a format without gaps, but for some between the images of NCHW. How far an axis of one goes is all the same.
bool lies(const cudnnTensorStruct& one, int format) {
  const std::vector<int> wanted = packed(one.dims, format);
  for (size_t a = format == NCHW; a < one.dims.size(); ++a)
    if (one.dims[a] > 1 && one.steps[a] != wanted[a]) return false;
  return true;
}

// Whether the shapes of a convolution fit each other: x * w -> y.
Status fit(const char* who, Tensor x, Filter w, Convolution by, Tensor y) {
  for (void* one : {(void*)x, (void*)w, (void*)by, (void*)y})
    if (!known(one)) return refuse(BAD_PARAM, text("%s: a descriptor is destroyed, or was never made", who));
  const size_t axes = x->dims.size();
  if (axes < 4 || w->dims.size() != axes || y->dims.size() != axes || by->pad.size() + 2 != axes)
    return refuse(SHAPE, text("%s: %zu, %zu, %zu axes and %zu spatial ones", who, axes, w->dims.size(), y->dims.size(), by->pad.size()));
  if (x->type != y->type || x->type != w->type || by->type != x->type)
    return refuse(NOT_SUPPORTED, text("%s: data types %d, %d, %d, computed in %d", who, x->type, w->type, y->type, by->type));
  for (Tensor one : {x, y})
    if (!lies(*one, w->format))
      return refuse(NOT_SUPPORTED, text("%s: filters are %s, and an array of %d x %d is not, or has gaps", who, w->format == NHWC ? "NHWC" : "NCHW",
                                        one->dims[0], one->dims[1]));
  if (w->format == NHWC && (axes != 4 || x->type != FLOAT))
    return refuse(NOT_SUPPORTED, text("%s: NHWC with %zu axes of type %d", who, axes, x->type));
  if (x->dims[0] != y->dims[0] || w->dims[0] != y->dims[1] || w->dims[1] * by->groups != x->dims[1] || w->dims[0] % by->groups)
    return refuse(SHAPE, text("%s: %d x %d images, %d x %d filters in %d groups, %d x %d maps", who, x->dims[0], x->dims[1], w->dims[0],
                              w->dims[1], by->groups, y->dims[0], y->dims[1]));
  for (size_t a = 2; a < axes; ++a) {
    const int s = int(a) - 2, extent = by->dilation[s] * (w->dims[a] - 1) + 1, room = x->dims[a] + 2 * by->pad[s] - extent;
    if (room < 0 || y->dims[a] != room / by->stride[s] + 1)
      return refuse(SHAPE, text("%s: axis %zu of %d with kernel %d does not give %d", who, a, x->dims[a], w->dims[a], y->dims[a]));
  }
  return SUCCESS;
}

// The algorithms, best first, as the heuristic gives them: one that needs more memory than there is, one whose sums have no
// fixed order, two to take, one that does not know groups.
// With channels last there are the two implicit products alone, and those of gradients that are their like.
std::vector<Perf> algorithms(Kind kind, Filter w, Convolution by, Tensor y) {
  size_t size = y->type == DOUBLE ? 8 : 4;
  for (int n : y->dims) size *= n;
  std::vector<Perf> list{{kind == FORWARD ? 6 : 5, SUCCESS, .1f, size_t(1) << 40, 1, by->math, {}}};
  if (kind != FORWARD) list.push_back({0, SUCCESS, .2f, 0, 0, by->math, {}});
  list.push_back({PRECOMPUTED, SUCCESS, .3f, by->math == FMA ? size + 64 : 2 * size + 64, 1, by->math, {}});
  if (kind == FORWARD) list.push_back({0, SUCCESS, .4f, 0, 1, by->math, {}});
  if (w->format == NHWC) {
    list[0].status = NOT_SUPPORTED;
    return list;
  }
  list.push_back({2, by->groups > 1 ? NOT_SUPPORTED : SUCCESS, by->groups > 1 ? -1.f : .5f, 0, 1, by->math, {}});
  return list;
}

// As they are listed: the manual says that an algorithm is there in more than one math, and that the caller sets that of the one that
// it takes in the descriptor. Of the others, the memory is another.
std::vector<Perf> listed(Kind kind, Filter w, Convolution by, Tensor y) {
  std::vector<Perf> list = algorithms(kind, w, by, y);
  cudnnConvolutionStruct other = *by;
  other.math = by->math == FMA ? 0 : FMA;
  for (const Perf& one : algorithms(kind, w, &other, y))
    if (one.algorithm == PRECOMPUTED) list.insert(by->math == FMA ? list.begin() : list.end(), one);
  for (Perf& one : list)
    if (said_math >= 0) one.math = said_math;
  return list;
}

// measured: as cudnnFind... does, which waits for the GPU and times each algorithm; here the last of the list is the fastest.
Status choose(const char* who, Kind kind, Handle handle, Tensor x, Filter w, Convolution by, Tensor y, int asked, int* given, Perf* list,
              bool measured = false) {
  NEED_HANDLE(who);
  if (measured && capturing) return refuse(FAILED, text("%s while a stream captures", who));
  if (given == nullptr || list == nullptr || asked < 1) return refuse(BAD_PARAM, text("%s: %d results asked for", who, asked));
  if (Status seen = fit(who, x, w, by, y)) return seen;
  std::vector<Perf> all = listed(kind, w, by, y);
  if (measured) {
    ++counts[WAITS];
    drain_all();
    all.erase(std::find_if(all.begin(), all.end(), [](const Perf& one) { return one.memory == size_t(1) << 40; }));  // no memory for it
    std::stable_partition(all.begin(), all.end(), [](const Perf& one) { return one.status == SUCCESS; });
    std::reverse(all.begin(), std::find_if(all.begin(), all.end(), [](const Perf& one) { return one.status != SUCCESS; }));
  }
  *given = std::min(asked, int(all.size()));
  std::copy(all.begin(), all.begin() + *given, list);
  return SUCCESS;
}

Status need_algorithm(const char* who, Kind kind, Filter w, Convolution by, Tensor y, int algorithm, CUdeviceptr workspace, size_t size) {
  if (algorithm == refused_algorithm) return refuse(Status(refused_status), text("%s: algorithm %d is refused", who, algorithm));
  for (const Perf& one : algorithms(kind, w, by, y)) {
    if (one.algorithm != algorithm || one.status) continue;
    if (size < one.memory) return refuse(TOO_SMALL, text("%s: a workspace of %zu bytes, algorithm %d needs %zu", who, size, algorithm, one.memory));
    if (one.memory && workspace % 16) return refuse(MISALIGNED, text("%s: the workspace is not aligned to 16 bytes", who));
    if (one.memory && need_memory(text("%s, workspace", who).c_str(), workspace, size)) return refuse(BAD_PARAM, complaint);
    return SUCCESS;
  }
  return refuse(NOT_SUPPORTED, text("%s: algorithm %d is not for this convolution", who, algorithm));
}

Status need_array(const char* who, const char* what, CUdeviceptr at, int type, const std::vector<int>& dims, const std::vector<int>& steps) {
  const size_t size = type == DOUBLE ? 8 : 4;
  if (at == 0) return refuse(NULL_POINTER, text("%s: %s is null", who, what));
  if (at % size) return refuse(MISALIGNED, text("%s: %s is misaligned", who, what));
  if (need_memory(text("%s, %s", who, what).c_str(), at, extent(dims, steps) * size)) return refuse(BAD_PARAM, complaint);
  return SUCCESS;
}

// Visits each term of a convolution: visit(element of x, of w, of y). The places of y are in the outer loops, in order.
template <class Visit>
void terms(const cudnnTensorStruct& x, const cudnnFilterStruct& w, const cudnnConvolutionStruct& by, const cudnnTensorStruct& y, Visit visit) {
  const int axes = int(x.dims.size()) - 2, filters = w.dims[0] / by.groups;
  const std::vector<int>& w_steps = w.steps;
  size_t places = 1, taps = 1;
  for (int a = 0; a < axes; ++a) { places *= y.dims[a + 2]; taps *= w.dims[a + 2]; }
  for (int n = 0; n < y.dims[0]; ++n)
    for (int f = 0; f < w.dims[0]; ++f)
      for (size_t p = 0; p < places; ++p)
        for (size_t t = 0; t < taps; ++t) {
          long long from = (long long)n * x.steps[0], to = (long long)n * y.steps[0] + (long long)f * y.steps[1], with = (long long)f * w_steps[0];
          bool inside = true;
          size_t place = p, tap = t;
          for (int a = axes - 1; a >= 0; --a) {
            const int at = int(place % y.dims[a + 2]), k = int(tap % w.dims[a + 2]);
            const int pixel = at * by.stride[a] - by.pad[a] + k * by.dilation[a];
            inside = inside && pixel >= 0 && pixel < x.dims[a + 2];
            from += (long long)pixel * x.steps[a + 2];
            to += (long long)at * y.steps[a + 2];
            with += (long long)k * w_steps[a + 2];
            place /= y.dims[a + 2];
            tap /= w.dims[a + 2];
          }
          if (!inside) continue;
          for (int c = 0; c < w.dims[1]; ++c)
            visit(from + (long long)(f / filters * w.dims[1] + c) * x.steps[1], with + (long long)c * w_steps[1], to);
        }
}

// Visits the elements of an array: visit(where it lies).
template <class Visit>
void elements(const std::vector<int>& dims, const std::vector<int>& steps, Visit visit) {
  size_t all = 1;
  for (int n : dims) all *= n;
  for (size_t i = 0; i < all; ++i) {
    size_t rest = i;
    long long at = 0;
    for (size_t a = dims.size(); a-- > 0; rest /= dims[a]) at += (long long)(rest % dims[a]) * steps[a];
    visit(at);
  }
}

double factor(double value, int type, int math) { return type != FLOAT || math == FMA ? value : as_tf32(float(value)); }

double read(CUdeviceptr at, int type, long long i) { return type == DOUBLE ? ((double*)at)[i] : ((float*)at)[i]; }
void write(CUdeviceptr at, int type, long long i, double value) {
  if (type == DOUBLE) ((double*)at)[i] = value; else ((float*)at)[i] = float(value);
}

// What is done with a sum before it is stored: + kept * what is there or in `z`, + bias of the channel, then the ReLU.
struct Store { double alpha, kept; CUdeviceptr z, bias; bool relu; };

// target (+)= sum over the terms. kind: which of the three arrays is the target.
Status queue(const char* who, Kind kind, Handle handle, CUdeviceptr x, Tensor xd, CUdeviceptr w, Filter wd, Convolution by, CUdeviceptr y,
             Tensor yd, CUdeviceptr workspace, size_t size, Store store) {
  if (need_stream(who, handle->stream)) return refuse(STREAM, complaint);
  ++counts[LIBRARY_CALLS];
  if (null_launches && !capturing) return SUCCESS;
  later(stream_of(handle->stream), [=, xd = *xd, wd = *wd, by = *by, yd = *yd]() -> CUresult {
    for (CUdeviceptr at : {x, w, y, size ? workspace : y})
      if (holder(at, 1) == live.end()) return fault(CUDA_ERROR_ILLEGAL_ADDRESS, text("%s: memory is freed by now", who));
    if (size) memset((void*)workspace, FRESH, size);
    spent += layout_ms[wd.format == NHWC];
    const CUdeviceptr target = kind == FORWARD ? y : kind == DATA ? x : w;
    const std::vector<int> steps = kind == FORWARD ? yd.steps : kind == DATA ? xd.steps : wd.steps;
    const std::vector<int>& dims = kind == FORWARD ? yd.dims : kind == DATA ? xd.dims : wd.dims;
    std::vector<double> sums(extent(dims, steps));
    const int type = xd.type;
    auto at = [&](CUdeviceptr array, long long i) { return factor(read(array, type, i), type, by.math); };
    terms(xd, wd, by, yd, [&](long long i, long long j, long long k) {
      if (kind == FORWARD) sums[k] += at(x, i) * at(w, j);
      if (kind == DATA) sums[i] += at(w, j) * at(y, k);
      if (kind == FILTER) sums[j] += at(x, i) * at(y, k);
    });
    elements(dims, steps, [&](long long i) {
      double value = store.alpha * sums[i];
      if (store.kept != 0) value += store.kept * read(store.z ? store.z : target, type, i);
      if (store.bias) value += read(store.bias, type, i % steps[0] / steps[1] % dims[1]);
      if (store.relu) value = value > 0 ? value : 0;
      write(target, type, i, value);
    });
    return CUDA_SUCCESS;
  });
  return SUCCESS;
}

double scalar(const void* at, int type) { return type == DOUBLE ? *(const double*)at : *(const float*)at; }

}  // namespace

extern "C" {

size_t cudnnGetVersion() { return 92000; }
size_t cudnnGetCudartVersion() { return 13000; }
const char* cudnnGetErrorString(Status status) {
  return status == TOO_SMALL ? "CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT" : status >= 3000 ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_BAD_PARAM";
}
void cudnnGetLastErrorString(char* to, size_t size) {
  snprintf(to, size, "%s", said.c_str());
  said.clear();
}
Status cudnnCreate(Handle* made) { return make_handle("cudnnCreate", made); }
Status cudnnDestroy(Handle handle) { return destroy_handle("cudnnDestroy", handle); }
Status cudnnSetStream(Handle handle, CUstream stream) {
  NEED_HANDLE("cudnnSetStream");
  if (stream && need_stream("cudnnSetStream", stream)) return refuse(STREAM, complaint);
  handle->stream = stream;
  return SUCCESS;
}
Status cudnnCreateTensorDescriptor(Tensor* made) { return make(made); }
Status cudnnDestroyTensorDescriptor(Tensor one) { return drop(one); }
Status cudnnCreateFilterDescriptor(Filter* made) { return make(made); }
Status cudnnDestroyFilterDescriptor(Filter one) { return drop(one); }
Status cudnnCreateConvolutionDescriptor(Convolution* made) { return make(made); }
Status cudnnDestroyConvolutionDescriptor(Convolution one) { return drop(one); }
Status cudnnCreateActivationDescriptor(Activation* made) { return make(made); }
Status cudnnDestroyActivationDescriptor(Activation one) { return drop(one); }
Status cudnnSetTensorNdDescriptor(Tensor one, int type, int axes, const int* dims, const int* steps) {
  Lock hold(mutex);
  if (!known(one) || (type != FLOAT && type != DOUBLE)) return refuse(BAD_PARAM, "cudnnSetTensorNdDescriptor: descriptor or type");
  if (axes < 4 || axes > 8) return refuse(NOT_SUPPORTED, text("cudnnSetTensorNdDescriptor: %d axes, from 4 to 8 are known", axes));
  for (int a = 0; a < axes; ++a)
    if (dims[a] < 1 || steps[a] < 1) return refuse(BAD_PARAM, text("cudnnSetTensorNdDescriptor: axis %d of %d, step %d", a, dims[a], steps[a]));
  std::vector<int> order(axes);
  for (int a = 0; a < axes; ++a) order[a] = a;
  std::sort(order.begin(), order.end(), [&](int a, int b) { return steps[a] < steps[b]; });
  long long taken = 1;  // numbers that the faster axes take
  for (int a : order) {
    if (dims[a] == 1) continue;
    if (steps[a] < taken) return refuse(NOT_SUPPORTED, text("cudnnSetTensorNdDescriptor: elements overlap, axis %d has step %d", a, steps[a]));
    taken = (long long)(dims[a] - 1) * steps[a] + taken;
  }
  *one = {type, {dims, dims + axes}, {steps, steps + axes}};
  if (extent(one->dims, one->steps) > 2147483647u) return refuse(NOT_SUPPORTED, "cudnnSetTensorNdDescriptor: 2 GiB elements or more");
  return SUCCESS;
}
Status cudnnSetFilterNdDescriptor(Filter one, int type, int format, int axes, const int* dims) {
  Lock hold(mutex);
  if (!known(one) || (type != FLOAT && type != DOUBLE) || (format != NCHW && format != NHWC) || axes < 4 || axes > 8)
    return refuse(BAD_PARAM, text("cudnnSetFilterNdDescriptor: type %d, format %d, %d axes", type, format, axes));
  if (format == NHWC && axes != 4) return refuse(NOT_SUPPORTED, text("cudnnSetFilterNdDescriptor: NHWC with %d axes", axes));
  *one = {type, format, {dims, dims + axes}, {}};
  one->steps = packed(one->dims, format);
  return SUCCESS;
}
Status cudnnSetConvolutionNdDescriptor(Convolution one, int axes, const int* pad, const int* stride, const int* dilation, int mode, int type) {
  Lock hold(mutex);
  if (!known(one) || axes < 2 || axes > 6 || (mode != 0 && mode != 1)) return refuse(BAD_PARAM, text("cudnnSetConvolutionNdDescriptor: %d axes, mode %d", axes, mode));
  if (mode != 1) return refuse(NOT_SUPPORTED, "the stand-in knows cross-correlation alone");
  for (int a = 0; a < axes; ++a)
    if (pad[a] < 0 || stride[a] < 1 || dilation[a] < 1) return refuse(BAD_PARAM, text("cudnnSetConvolutionNdDescriptor: pad %d, stride %d, dilation %d", pad[a], stride[a], dilation[a]));
  *one = {type, 1, 0, {pad, pad + axes}, {stride, stride + axes}, {dilation, dilation + axes}};
  return SUCCESS;
}
Status cudnnSetConvolutionGroupCount(Convolution one, int groups) {
  Lock hold(mutex);
  if (!known(one) || groups < 1) return refuse(BAD_PARAM, text("cudnnSetConvolutionGroupCount: %d", groups));
  one->groups = groups;
  return SUCCESS;
}
Status cudnnSetConvolutionMathType(Convolution one, int math) {
  Lock hold(mutex);
  if (!known(one) || math < 0 || math > FMA) return refuse(BAD_PARAM, text("cudnnSetConvolutionMathType: %d", math));
  one->math = math;
  return SUCCESS;
}
Status cudnnSetActivationDescriptor(Activation one, int mode, int nan, double) {
  Lock hold(mutex);
  if (!known(one)) return refuse(BAD_PARAM, "cudnnSetActivationDescriptor: descriptor");
  *one = {mode, nan};
  return SUCCESS;
}
Status cudnnGetConvolutionForwardAlgorithm_v7(Handle handle, Tensor x, Filter w, Convolution by, Tensor y, int asked, int* given, Perf* list) {
  return choose("cudnnGetConvolutionForwardAlgorithm", FORWARD, handle, x, w, by, y, asked, given, list);
}
Status cudnnGetConvolutionBackwardDataAlgorithm_v7(Handle handle, Filter w, Tensor y, Convolution by, Tensor x, int asked, int* given, Perf* list) {
  return choose("cudnnGetConvolutionBackwardDataAlgorithm", DATA, handle, x, w, by, y, asked, given, list);
}
Status cudnnGetConvolutionBackwardFilterAlgorithm_v7(Handle handle, Tensor x, Tensor y, Convolution by, Filter w, int asked, int* given, Perf* list) {
  return choose("cudnnGetConvolutionBackwardFilterAlgorithm", FILTER, handle, x, w, by, y, asked, given, list);
}
Status cudnnFindConvolutionForwardAlgorithm(Handle handle, Tensor x, Filter w, Convolution by, Tensor y, int asked, int* given, Perf* list) {
  return choose("cudnnFindConvolutionForwardAlgorithm", FORWARD, handle, x, w, by, y, asked, given, list, true);
}
Status cudnnFindConvolutionBackwardDataAlgorithm(Handle handle, Filter w, Tensor y, Convolution by, Tensor x, int asked, int* given, Perf* list) {
  return choose("cudnnFindConvolutionBackwardDataAlgorithm", DATA, handle, x, w, by, y, asked, given, list, true);
}
Status cudnnFindConvolutionBackwardFilterAlgorithm(Handle handle, Tensor x, Tensor y, Convolution by, Filter w, int asked, int* given, Perf* list) {
  return choose("cudnnFindConvolutionBackwardFilterAlgorithm", FILTER, handle, x, w, by, y, asked, given, list, true);
}

Status space(const char* who, Kind kind, Handle handle, Tensor x, Filter w, Convolution by, Tensor y, int algorithm, size_t* size) {
  NEED_HANDLE(who);
  if (Status seen = fit(who, x, w, by, y)) return seen;
  for (const Perf& one : algorithms(kind, w, by, y))
    if (one.algorithm == algorithm && !one.status) {
      *size = one.memory;
      return SUCCESS;
    }
  return refuse(NOT_SUPPORTED, text("%s: algorithm %d is not for this convolution", who, algorithm));
}
Status cudnnGetConvolutionForwardWorkspaceSize(Handle handle, Tensor x, Filter w, Convolution by, Tensor y, int algorithm, size_t* size) {
  return space("cudnnGetConvolutionForwardWorkspaceSize", FORWARD, handle, x, w, by, y, algorithm, size);
}
Status cudnnGetConvolutionBackwardDataWorkspaceSize(Handle handle, Filter w, Tensor y, Convolution by, Tensor x, int algorithm, size_t* size) {
  return space("cudnnGetConvolutionBackwardDataWorkspaceSize", DATA, handle, x, w, by, y, algorithm, size);
}
Status cudnnGetConvolutionBackwardFilterWorkspaceSize(Handle handle, Tensor x, Tensor y, Convolution by, Filter w, int algorithm, size_t* size) {
  return space("cudnnGetConvolutionBackwardFilterWorkspaceSize", FILTER, handle, x, w, by, y, algorithm, size);
}

#define NEED_ALL(who, kind)                                                                       \
  NEED_HANDLE(who);                                                                               \
  if (Status seen = fit(who, xd, wd, by, yd)) return seen;                                        \
  if (Status seen = need_array(who, "x", x, xd->type, xd->dims, xd->steps)) return seen;          \
  if (Status seen = need_array(who, "w", w, wd->type, wd->dims, wd->steps)) return seen;   \
  if (Status seen = need_array(who, "y", y, yd->type, yd->dims, yd->steps)) return seen;          \
  if (by->math != FMA && xd->type == FLOAT)                                                        \
    for (CUdeviceptr at : {x, w, y})                                                              \
      if (at % 16) return refuse(MISALIGNED, text("%s: TF32 of arrays that are not aligned to 16 bytes", who)); \
  if (Status seen = need_algorithm(who, kind, wd, by, yd, algorithm, workspace, size)) return seen

Status cudnnConvolutionForward(Handle handle, const void* alpha, Tensor xd, CUdeviceptr x, Filter wd, CUdeviceptr w, Convolution by,
                               int algorithm, CUdeviceptr workspace, size_t size, const void* beta, Tensor yd, CUdeviceptr y) {
  NEED_ALL("cudnnConvolutionForward", FORWARD);
  return queue("cudnnConvolutionForward", FORWARD, handle, x, xd, w, wd, by, y, yd, workspace, size,
               {scalar(alpha, xd->type), scalar(beta, xd->type), 0, 0, false});
}
Status cudnnConvolutionBiasActivationForward(Handle handle, const void* alpha, Tensor xd, CUdeviceptr x, Filter wd, CUdeviceptr w,
                                             Convolution by, int algorithm, CUdeviceptr workspace, size_t size, const void* kept, Tensor zd,
                                             CUdeviceptr z, Tensor bd, CUdeviceptr bias, Activation activation, Tensor yd, CUdeviceptr y) {
  const char* who = "cudnnConvolutionBiasActivationForward";
  NEED_ALL(who, FORWARD);
  if (!known(zd) || !known(bd) || !known(activation)) return refuse(BAD_PARAM, text("%s: a descriptor", who));
  if (zd->dims != yd->dims || zd->steps != yd->steps) return refuse(SHAPE, text("%s: z is not laid out as y", who));
  for (size_t a = 0; a < bd->dims.size(); ++a)
    if (bd->dims[a] != (a == 1 ? yd->dims[1] : 1)) return refuse(SHAPE, text("%s: the bias has %d along axis %zu", who, bd->dims[a], a));
  if (Status seen = need_array(who, "bias", bias, bd->type, bd->dims, bd->steps)) return seen;
  if (Status seen = need_array(who, "z", z, zd->type, zd->dims, zd->steps)) return seen;
  if (activation->mode != RELU && activation->mode != IDENTITY) return refuse(NOT_SUPPORTED, text("%s: activation %d", who, activation->mode));
  if (activation->nan != 0) return refuse(NOT_SUPPORTED, text("%s: CUDNN_PROPAGATE_NAN", who));
  if (activation->mode == IDENTITY && algorithm != PRECOMPUTED) return refuse(NOT_SUPPORTED, text("%s: identity with algorithm %d", who, algorithm));
  return queue(who, FORWARD, handle, x, xd, w, wd, by, y, yd, workspace, size,
               {scalar(alpha, xd->type), scalar(kept, xd->type), z, bias, activation->mode == RELU});
}
Status cudnnConvolutionBackwardData(Handle handle, const void* alpha, Filter wd, CUdeviceptr w, Tensor yd, CUdeviceptr y, Convolution by,
                                    int algorithm, CUdeviceptr workspace, size_t size, const void* beta, Tensor xd, CUdeviceptr x) {
  NEED_ALL("cudnnConvolutionBackwardData", DATA);
  return queue("cudnnConvolutionBackwardData", DATA, handle, x, xd, w, wd, by, y, yd, workspace, size,
               {scalar(alpha, xd->type), scalar(beta, xd->type), 0, 0, false});
}
Status cudnnConvolutionBackwardFilter(Handle handle, const void* alpha, Tensor xd, CUdeviceptr x, Tensor yd, CUdeviceptr y, Convolution by,
                                      int algorithm, CUdeviceptr workspace, size_t size, const void* beta, Filter wd, CUdeviceptr w) {
  NEED_ALL("cudnnConvolutionBackwardFilter", FILTER);
  return queue("cudnnConvolutionBackwardFilter", FILTER, handle, x, xd, w, wd, by, y, yd, workspace, size,
               {scalar(alpha, xd->type), scalar(beta, xd->type), 0, 0, false});
}
}
