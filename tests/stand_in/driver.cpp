// driver.cpp: a stand-in for NVIDIA's driver library, so that the real PyCUDA and our GPU code run on machines without a GPU.
//
// Device memory is host memory between red zones, and fresh memory is NaN. A module is a shared library that the stand-in
// nvcc has made for the host; a kernel runs as a few blocks of one thread each, last block first, which the contract of
// kernel.h allows. Streams are lazy: what is launched runs when somebody waits for it, so that a missing wait is seen.
// It is stricter than a driver: every pointer, size and launch is checked, and the error says what was wrong.
//
// state.cpp has what all parts share, launch.cpp modules, launches, streams and graphs; cublas.cpp and cudnn.cpp stand in for
// the two libraries.
#include "state.h"

using namespace stand_in;

namespace {

bool is_pinned(const void* at, size_t bytes) { return inside(pinned, CUdeviceptr(at), bytes); }

CUresult copy(const char* who, CUdeviceptr to, CUdeviceptr from, size_t bytes, bool to_device, bool from_device, CUstream stream,
              bool wait) {
  NEED_CONTEXT();
  if (CUresult seen = to_device ? need_memory(who, to, bytes) : need_host(who, (void*)to, bytes)) return seen;
  if (CUresult seen = from_device ? need_memory(who, from, bytes) : need_host(who, (void*)from, bytes)) return seen;
  if (wait) NEED_NO_CAPTURE(who);
  if (CUresult seen = need_stream(who, stream)) return seen;
  const bool pageable = (!to_device && !is_pinned((void*)to, bytes)) || (!from_device && !is_pinned((void*)from, bytes));
  if (pageable) NEED_NO_CAPTURE(who);
  if (pageable) counts[PAGEABLE_BYTES] += bytes;
  const Count kind = !from_device ? TO_DEVICE : !to_device ? TO_HOST : ON_DEVICE;
  ++counts[kind];
  if (kind != ON_DEVICE) counts[kind + 1] += bytes;
  stream = stream_of(stream);
  // To pageable memory a driver waits. From it, it may copy at once into a staging buffer of its own, or late, where the GPU reads
  // the host's pages itself: so it is late here.
  const CUresult seen = later(stream, [=] { memmove((void*)to, (void*)from, bytes); spent += copy_ms; return CUDA_SUCCESS; });
  if (seen || !(wait || (!to_device && !is_pinned((void*)to, bytes)))) return seen;
  return drain(stream);
}

template <class T>
CUresult set(CUdeviceptr at, T value, size_t count, CUstream stream) {
  NEED_CONTEXT();
  if (CUresult seen = need_memory("cuMemset", at, count * sizeof(T))) return seen;
  if (at % sizeof(T)) return fault(CUDA_ERROR_INVALID_VALUE, "cuMemset: the address is not aligned to the value");
  if (CUresult seen = need_stream("cuMemset", stream)) return seen;
  ++counts[CLEARED];
  return later(stream_of(stream), [=] { for (size_t i = 0; i < count; ++i) ((T*)at)[i] = value; spent += copy_ms; return CUDA_SUCCESS; });
}

// Appends the counts of this process to the file that STAND_IN_REPORT names, for tests/stand_in/run.py to add up.
struct Report {
  ~Report() {
    const char* path = getenv("STAND_IN_REPORT");
    FILE* file = path != nullptr && started && process == getpid() ? fopen(path, "a") : nullptr;
    if (file == nullptr) return;
    std::string line;
    for (unsigned long long count : counts) line += std::to_string(count) + " ";
    for (auto& [name, times] : launched) line += name + "=" + std::to_string(times) + " ";
    fputs((line + "\n").c_str(), file);
    fclose(file);
  }
} report;

}  // namespace

extern "C" {

// What the tests read and set.
void stand_in_counts(unsigned long long* made) { Lock hold(mutex); memcpy(made, counts, sizeof counts); }
int stand_in_count_number() { return COUNTS; }
void stand_in_memory(size_t bytes) { Lock hold(mutex); total = bytes; }
void stand_in_layout_times(double first, double last) { Lock hold(mutex); layout_ms[0] = first; layout_ms[1] = last; }
void stand_in_cudnn(int math, int refused, int status) {
  Lock hold(mutex);
  said_math = math;
  refused_algorithm = refused;
  refused_status = status;
}
void stand_in_lose(int index, int error) { Lock hold(mutex); lost[index] = CUresult(error); }
void stand_in_create(int status) { Lock hold(mutex); create_status = status; }
void stand_in_misaligned(const char* file, unsigned line, const void* at) {
  if (misaligned.empty()) misaligned = text("%s:%u: a load or store at %p, which is not aligned to its size", file, line, at);
}
void stand_in_null_launches(int on) { Lock hold(mutex); null_launches = on; }

CUresult CUDAAPI cuGetErrorString(CUresult error, const char** made) {
  static const std::map<int, const char*> names = {
      {0, "no error"}, {1, "invalid argument"}, {2, "out of memory"}, {3, "initialization error"}, {100, "no device"},
      {101, "invalid device ordinal"}, {200, "device kernel image is invalid"}, {201, "invalid device context"},
      {209, "no kernel image is available for this device"}, {400, "invalid resource handle"}, {500, "named symbol not found"},
      {600, "device not ready"}, {700, "an illegal memory access was encountered"}, {716, "misaligned address"}, {719, "unspecified launch failure"}, {701, "too many resources requested for launch"},
      {801, "operation not supported"},
      {900, "operation not permitted when stream is capturing"}, {901, "operation failed due to a previous error during capture"},
      {905, "dependency created on uncaptured work in another stream"}, {906, "operation would make the legacy stream depend on a capturing blocking stream"}};
  static thread_local std::string whole_text;
  auto found = names.find(error);
  whole_text = found == names.end() ? "error " + std::to_string(error) : found->second;
  if (error && !complaint.empty()) whole_text += " (" + complaint + ")";
  complaint.clear();
  *made = whole_text.c_str();
  return CUDA_SUCCESS;
}

// Devices and contexts
CUresult CUDAAPI cuInit(unsigned) {
  if (started && process != getpid()) return fault(CUDA_ERROR_NOT_INITIALIZED, "the driver was started before this process was forked");
  started = true;
  process = getpid();
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDriverGetVersion(int* made) { *made = CUDA_VERSION; return CUDA_SUCCESS; }
CUresult CUDAAPI cuDeviceGetCount(int* made) { *made = 2; return started ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED; }
CUresult CUDAAPI cuDeviceGet(CUdevice* made, int index) {
  *made = index;
  return index == 0 || index == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult CUDAAPI cuDeviceGetName(char* made, int size, CUdevice) { snprintf(made, size, "stand-in"); return CUDA_SUCCESS; }
CUresult CUDAAPI cuDeviceTotalMem(size_t* made, CUdevice) { *made = total; return CUDA_SUCCESS; }
CUresult CUDAAPI cuDeviceComputeCapability(int* major, int* minor, CUdevice) { *major = 9; *minor = 0; return CUDA_SUCCESS; }
CUresult CUDAAPI cuDeviceGetPCIBusId(char* made, int size, CUdevice device) {
  snprintf(made, size, "0000:%02x:00.0", device);
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDeviceGetAttribute(int* made, CUdevice_attribute which, CUdevice) {
  static const std::map<int, int> values = {
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024}, {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024}, {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647}, {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535}, {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448}, {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048}, {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 3},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32}, {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9}, {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0}};
  auto found = values.find(which);
  *made = found == values.end() ? 0 : found->second;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext* made, CUdevice device) {
  Lock hold(mutex);
  ++primary[device].retained;
  *made = &primary[device];
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice device) {
  Lock hold(mutex);
  if (primary[device].retained == 0) return fault(CUDA_ERROR_INVALID_CONTEXT, "the primary context is released too often");
  --primary[device].retained;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuCtxCreate_v4(CUcontext* made, CUctxCreateParams*, unsigned, CUdevice device) {
  *made = new CUctx_st{device, 1};
  current.push_back(*made);
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuCtxGetCurrent(CUcontext* made) {
  if (started && process != getpid()) return CUDA_ERROR_NOT_INITIALIZED;
  *made = current.empty() ? nullptr : current.back();
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuCtxSetCurrent(CUcontext context) {  // takes the place of the one on top, as the manual says
  if (!current.empty()) current.pop_back();
  if (context != nullptr) current.push_back(context);
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuCtxPushCurrent(CUcontext context) { current.push_back(context); return CUDA_SUCCESS; }
CUresult CUDAAPI cuCtxPopCurrent(CUcontext* made) {
  if (CUresult seen = need_context()) return seen;
  *made = current.back();
  current.pop_back();
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuCtxDetach(CUcontext) { NEED_CONTEXT(); current.pop_back(); return CUDA_SUCCESS; }
CUresult CUDAAPI cuCtxGetDevice(CUdevice* made) { NEED_CONTEXT(); *made = device(); return CUDA_SUCCESS; }
CUresult CUDAAPI cuCtxGetApiVersion(CUcontext, unsigned* made) { *made = CUDA_VERSION; return CUDA_SUCCESS; }
CUresult CUDAAPI cuCtxSynchronize() {
  NEED_CONTEXT();
  NEED_NO_CAPTURES("cuCtxSynchronize");
  ++counts[WAITS];
  return drain_all();
}

// Memory
CUresult CUDAAPI cuMemAlloc(CUdeviceptr* made, size_t bytes) {
  NEED_CONTEXT();
  if (!relaxed) NEED_NO_CAPTURE("cuMemAlloc");
  if (bytes == 0) return fault(CUDA_ERROR_INVALID_VALUE, "cuMemAlloc of 0 bytes");
  if (counts[HELD] + bytes > total) return CUDA_ERROR_OUT_OF_MEMORY;
  const size_t rounded = (bytes + 2 * ZONE + ALIGN - 1) / ALIGN * ALIGN;
  char* raw = (char*)aligned_alloc(ALIGN, rounded);
  if (raw == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  memset(raw, FRESH, rounded);
  *made = CUdeviceptr(raw + ZONE);
  live[*made] = {bytes, device()};
  ++counts[ALLOCATED];
  counts[HELD] += bytes;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemFree(CUdeviceptr at) {
  NEED_CONTEXT();
  if (!relaxed) NEED_NO_CAPTURE("cuMemFree");
  auto found = live.find(at);
  if (found == live.end()) return fault(CUDA_ERROR_INVALID_VALUE, text("cuMemFree of %#llx, which is not an allocation", at));
  CUresult seen = counts[FREED] % SWEEP ? drain_streams() : drain_all();
  if (CUresult zones = whole(at, found->second.size, "something"); !seen) seen = zones;
  ++counts[FREED];
  counts[HELD] -= found->second.size;
  live.erase(found);
  free((char*)at - ZONE);
  return seen;
}
CUresult CUDAAPI cuMemGetInfo(size_t* available, size_t* all) {
  NEED_CONTEXT();
  *available = total > counts[HELD] ? total - counts[HELD] : 0;
  *all = total;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemGetAddressRange(CUdeviceptr* base, size_t* size, CUdeviceptr at) {
  NEED_CONTEXT();
  if (CUresult seen = need_memory("cuMemGetAddressRange", at, 0)) return seen;
  *base = holder(at, 0)->first;
  *size = holder(at, 0)->second.size;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuPointerGetAttribute(void* made, CUpointer_attribute which, CUdeviceptr at) {
  Lock hold(mutex);
  auto found = holder(at, 0);
  if (which != CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL || found == live.end())
    return fault(CUDA_ERROR_INVALID_VALUE, text("cuPointerGetAttribute: attribute %d of %#llx", int(which), at));
  *(int*)made = found->second.device;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemHostAlloc(void** made, size_t bytes, unsigned flags) {
  NEED_CONTEXT();
  if (!relaxed) NEED_NO_CAPTURE("cuMemHostAlloc");
  if (bytes == 0) return fault(CUDA_ERROR_INVALID_VALUE, "cuMemHostAlloc of 0 bytes");
  *made = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (*made == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  memset(*made, FRESH, bytes);
  pinned[CUdeviceptr(*made)] = bytes;
  if (flags & CU_MEMHOSTALLOC_DEVICEMAP) mapped[CUdeviceptr(*made)] = bytes;
  counts[PINNED] += bytes;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemFreeHost(void* at) {
  NEED_CONTEXT();
  if (!relaxed) NEED_NO_CAPTURE("cuMemFreeHost");
  auto found = pinned.find(CUdeviceptr(at));
  if (found == pinned.end()) return fault(CUDA_ERROR_INVALID_VALUE, "cuMemFreeHost of what was not allocated");
  const CUresult seen = drain_all();
  counts[PINNED] -= found->second;
  pinned.erase(found);
  mapped.erase(CUdeviceptr(at));
  free(at);
  return seen;
}
CUresult CUDAAPI cuMemHostGetDevicePointer_v2(CUdeviceptr* made, void* at, unsigned flags) {
  NEED_CONTEXT();
  if (flags != 0 || !inside(mapped, CUdeviceptr(at), 0))
    return fault(CUDA_ERROR_INVALID_VALUE, text("cuMemHostGetDevicePointer: %p is not memory that was allocated mapped, flags %u", at, flags));
  *made = CUdeviceptr(at);  // as with unified addresses
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemHostGetFlags(unsigned* made, void*) { *made = 0; return CUDA_SUCCESS; }

CUresult CUDAAPI cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  return copy("cuMemcpyHtoD", to, CUdeviceptr(from), bytes, true, false, nullptr, true);
}
CUresult CUDAAPI cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return copy("cuMemcpyHtoDAsync", to, CUdeviceptr(from), bytes, true, false, stream, false);
}
CUresult CUDAAPI cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  return copy("cuMemcpyDtoH", CUdeviceptr(to), from, bytes, false, true, nullptr, true);
}
CUresult CUDAAPI cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy("cuMemcpyDtoHAsync", CUdeviceptr(to), from, bytes, false, true, stream, false);
}
CUresult CUDAAPI cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy("cuMemcpyDtoD", to, from, bytes, true, true, nullptr, true);
}
CUresult CUDAAPI cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy("cuMemcpyDtoDAsync", to, from, bytes, true, true, stream, false);
}
CUresult CUDAAPI cuMemsetD8(CUdeviceptr at, unsigned char value, size_t count) { return set(at, value, count, nullptr); }
CUresult CUDAAPI cuMemsetD16(CUdeviceptr at, unsigned short value, size_t count) { return set(at, value, count, nullptr); }
CUresult CUDAAPI cuMemsetD32(CUdeviceptr at, unsigned value, size_t count) { return set(at, value, count, nullptr); }
CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr at, unsigned char v, size_t n, CUstream stream) { return set(at, v, n, stream); }
CUresult CUDAAPI cuMemsetD16Async(CUdeviceptr at, unsigned short v, size_t n, CUstream stream) { return set(at, v, n, stream); }
CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr at, unsigned v, size_t n, CUstream stream) { return set(at, v, n, stream); }
CUresult CUDAAPI cuMemsetD2D32Async(CUdeviceptr at, size_t pitch, unsigned value, size_t width, size_t height,
                                    CUstream stream) {
  NEED_CONTEXT();
  if (height == 0) return CUDA_SUCCESS;
  if (CUresult seen = need_memory("cuMemsetD2D32", at, (height - 1) * pitch + width * 4)) return seen;
  if (CUresult seen = need_stream("cuMemsetD2D32", stream)) return seen;
  ++counts[CLEARED];
  return later(stream_of(stream), [=] {
    for (size_t y = 0; y < height; ++y)
      for (size_t x = 0; x < width; ++x) ((unsigned*)(at + y * pitch))[x] = value;
    return CUDA_SUCCESS;
  });
}
CUresult CUDAAPI cuMemsetD2D32(CUdeviceptr at, size_t pitch, unsigned value, size_t width, size_t height) {
  return cuMemsetD2D32Async(at, pitch, value, width, height, nullptr);
}

// What PyCUDA names and nothing of ours uses: arrays, textures, peers, linking, the launches of before CUDA 4.
CUresult stand_in_refuses() { return fault(CUDA_ERROR_NOT_SUPPORTED, "the stand-in does not have this"); }
}
#define REFUSE(name) asm(".globl " #name "\n.set " #name ", stand_in_refuses");
REFUSE(cuArray3DCreate_v2) REFUSE(cuArray3DGetDescriptor_v2) REFUSE(cuArrayCreate_v2) REFUSE(cuArrayDestroy)
REFUSE(cuArrayGetDescriptor_v2) REFUSE(cuCtxAttach) REFUSE(cuCtxDisablePeerAccess) REFUSE(cuCtxEnablePeerAccess)
REFUSE(cuCtxGetCacheConfig) REFUSE(cuCtxGetLimit) REFUSE(cuCtxGetSharedMemConfig) REFUSE(cuCtxSetCacheConfig)
REFUSE(cuCtxSetLimit) REFUSE(cuCtxSetSharedMemConfig) REFUSE(cuDeviceCanAccessPeer) REFUSE(cuDeviceGetByPCIBusId)
REFUSE(cuFuncSetSharedSize) REFUSE(cuIpcCloseMemHandle) REFUSE(cuIpcGetEventHandle) REFUSE(cuIpcGetMemHandle)
REFUSE(cuIpcOpenEventHandle) REFUSE(cuIpcOpenMemHandle_v2) REFUSE(cuLaunch) REFUSE(cuLaunchGrid) REFUSE(cuLaunchGridAsync)
REFUSE(cuLinkAddData_v2) REFUSE(cuLinkAddFile_v2) REFUSE(cuLinkComplete) REFUSE(cuLinkCreate_v2) REFUSE(cuLinkDestroy)
REFUSE(cuMemAllocManaged) REFUSE(cuMemAllocPitch_v2) REFUSE(cuMemHostRegister_v2)
REFUSE(cuMemHostUnregister) REFUSE(cuMemcpy2DAsync_v2) REFUSE(cuMemcpy2DUnaligned_v2) REFUSE(cuMemcpy2D_v2)
REFUSE(cuMemcpy3DAsync_v2) REFUSE(cuMemcpy3DPeer) REFUSE(cuMemcpy3DPeerAsync) REFUSE(cuMemcpy3D_v2) REFUSE(cuMemcpyAtoA_v2)
REFUSE(cuMemcpyAtoD_v2) REFUSE(cuMemcpyAtoH_v2) REFUSE(cuMemcpyDtoA_v2) REFUSE(cuMemcpyHtoA_v2) REFUSE(cuMemcpyPeer)
REFUSE(cuMemcpyPeerAsync) REFUSE(cuMemsetD2D16Async) REFUSE(cuMemsetD2D16_v2) 
REFUSE(cuMemsetD2D8Async) REFUSE(cuMemsetD2D8_v2) REFUSE(cuModuleGetGlobal_v2)
REFUSE(cuModuleGetSurfRef) REFUSE(cuModuleGetTexRef) REFUSE(cuModuleLoad) REFUSE(cuParamSetSize) REFUSE(cuParamSetTexRef)
REFUSE(cuParamSetf) REFUSE(cuParamSeti) REFUSE(cuParamSetv) REFUSE(cuProfilerInitialize) REFUSE(cuProfilerStart)
REFUSE(cuProfilerStop) REFUSE(cuStreamAttachMemAsync) REFUSE(cuSurfRefGetArray) REFUSE(cuSurfRefSetArray)
REFUSE(cuTexRefCreate) REFUSE(cuTexRefDestroy) REFUSE(cuTexRefGetAddressMode) REFUSE(cuTexRefGetAddress_v2)
REFUSE(cuTexRefGetArray) REFUSE(cuTexRefGetFilterMode) REFUSE(cuTexRefGetFlags) REFUSE(cuTexRefGetFormat)
REFUSE(cuTexRefSetAddress2D_v3) REFUSE(cuTexRefSetAddressMode) REFUSE(cuTexRefSetAddress_v2) REFUSE(cuTexRefSetArray)
REFUSE(cuTexRefSetFilterMode) REFUSE(cuTexRefSetFlags) REFUSE(cuTexRefSetFormat)
