// driver.cpp: a stand-in for NVIDIA's driver library, so that the real PyCUDA and our GPU code run on machines without a GPU.
//
// Device memory is host memory between red zones, and fresh memory is NaN. A module is a shared library that the stand-in
// nvcc has made for the host; a kernel runs as a few blocks of one thread each, last block first, which the contract of
// kernel.h allows. Streams are lazy: what is launched runs when somebody waits for it, so that a missing wait is seen.
// It is stricter than a driver: every pointer, size and launch is checked, and the error says what was wrong.
#include <cuda.h>
#include <dlfcn.h>
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

using Job = std::function<CUresult()>;
using Clock = std::chrono::steady_clock;
using Bytes = std::vector<char>;

struct CUctx_st { int device, retained; };
struct CUstream_st { int device; std::deque<Job> work; };
struct Moment { CUstream stream = nullptr; Clock::time_point at; bool recorded = false, done = false; };
struct CUevent_st { std::shared_ptr<Moment> moment; };
struct CUmod_st { void* library; std::map<std::string, std::unique_ptr<CUfunc_st>> functions; };
struct CUfunc_st {
  std::string name, kinds;
  const size_t *places, *sizes;  // of each argument, in bytes, as the compiler lays them out
  void (*run)(const char* arguments, int blocks);
};

namespace {

constexpr size_t ZONE = 512, ALIGN = 256, WAITING = 512;  // bytes beside an allocation; jobs that a stream may hold back
constexpr unsigned char FRESH = 0xFF;                      // a NaN in float and double, -1 in int
enum Count { LAUNCHES, TO_DEVICE, TO_DEVICE_BYTES, TO_HOST, TO_HOST_BYTES, ON_DEVICE, CLEARED, ALLOCATED, FREED, HELD, PINNED,
             STREAMS, MODULES, FAULTS, ONE_THREAD, COUNTS };

struct Memory { size_t size; int device; };
std::recursive_mutex mutex;
using Lock = std::lock_guard<std::recursive_mutex>;
std::map<CUdeviceptr, Memory> live;
std::map<CUdeviceptr, size_t> pinned;
std::map<std::string, long> launched;
std::vector<CUstream> streams;
unsigned long long counts[COUNTS];
size_t total = size_t(4) << 30;
bool started = false;
CUctx_st primary[2] = {{0, 0}, {1, 0}};  // two devices, so that a mix of them is found
CUstream_st plain[2] = {{0, {}}, {1, {}}};
thread_local std::vector<CUcontext> current;
thread_local std::string complaint;

CUresult fault(CUresult code, const std::string& what) {
  complaint = what;
  ++counts[FAULTS];
  return code;
}

std::string text(const char* format, ...) {
  char made[500];
  va_list list;
  va_start(list, format);
  vsnprintf(made, sizeof made, format, list);
  va_end(list);
  return made;
}

int device() { return current.back()->device; }
CUresult need_context() {
  return current.empty() ? fault(CUDA_ERROR_INVALID_CONTEXT, "this thread has no current context") : CUDA_SUCCESS;
}
#define NEED_CONTEXT() \
  Lock hold(mutex);    \
  if (CUresult seen = need_context()) return seen

// The allocation that holds `bytes` bytes from `at` on, or live.end(). An empty range may lie at the end of one.
std::map<CUdeviceptr, Memory>::iterator holder(CUdeviceptr at, size_t bytes) {
  auto found = live.upper_bound(at);
  if (found == live.begin()) return live.end();
  --found;
  return at + bytes <= found->first + found->second.size ? found : live.end();
}

CUresult need_memory(const char* who, CUdeviceptr at, size_t bytes) {
  auto found = holder(at, bytes);
  if (found == live.end())
    return fault(CUDA_ERROR_INVALID_VALUE, text("%s: %zu bytes at %#llx are not inside one allocation", who, bytes, at));
  if (found->second.device != device())
    return fault(CUDA_ERROR_INVALID_VALUE, text("%s: memory of device %d, context of device %d", who, found->second.device, device()));
  return CUDA_SUCCESS;
}

CUresult need_host(const char* who, const void* at, size_t bytes) {
  auto next = live.upper_bound(CUdeviceptr(at) + (bytes ? bytes - 1 : 0));
  if (next == live.begin()) return CUDA_SUCCESS;
  --next;
  if (next->first + next->second.size <= CUdeviceptr(at)) return CUDA_SUCCESS;
  return fault(CUDA_ERROR_INVALID_VALUE, text("%s: the host address %p is device memory", who, at));
}

// Whether the red zones of an allocation are as they were; broken ones are repaired after being reported once.
CUresult whole(CUdeviceptr at, size_t size, const std::string& who) {
  auto broken = [](unsigned char* zone, size_t bytes) {
    long seen = -1;
    for (size_t i = 0; i < bytes && seen < 0; ++i)
      if (zone[i] != FRESH) seen = long(i);
    memset(zone, FRESH, bytes);
    return seen;
  };
  const long before = broken((unsigned char*)at - ZONE, ZONE), after = broken((unsigned char*)at + size, ZONE);
  if (before < 0 && after < 0) return CUDA_SUCCESS;
  const long far = before >= 0 ? before - long(ZONE) : long(size) + after;
  return fault(CUDA_ERROR_ILLEGAL_ADDRESS, text("%s wrote at byte %ld of an allocation of %zu", who.c_str(), far, size));
}

CUstream stream_of(CUstream given) {
  return given == nullptr || given == CU_STREAM_LEGACY || given == CU_STREAM_PER_THREAD ? &plain[device()] : given;
}

CUresult drain(CUstream stream) {
  CUresult first = CUDA_SUCCESS;
  while (!stream->work.empty()) {
    Job job = std::move(stream->work.front());
    stream->work.pop_front();
    const CUresult seen = job();
    if (!first) first = seen;
  }
  return first;
}

CUresult drain_all() {
  CUresult first = CUDA_SUCCESS;
  for (CUstream stream : {&plain[0], &plain[1]})
    if (CUresult seen = drain(stream); !first) first = seen;
  for (CUstream stream : std::vector<CUstream>(streams))
    if (CUresult seen = drain(stream); !first) first = seen;
  for (auto& [at, memory] : live)
    if (CUresult seen = whole(at, memory.size, "something"); !first) first = seen;
  return first;
}

// Queues work for a stream. The null stream waits for all others, as CUDA's does.
CUresult later(CUstream stream, Job job) {
  if (stream == &plain[0] || stream == &plain[1]) {
    const CUresult before = drain_all(), seen = job();
    return before ? before : seen;
  }
  stream->work.push_back(std::move(job));
  return stream->work.size() > WAITING ? drain(stream) : CUDA_SUCCESS;
}

bool is_pinned(const void* at, size_t bytes) {
  auto found = pinned.upper_bound(CUdeviceptr(at));
  return found != pinned.begin() && (--found, CUdeviceptr(at) + bytes <= found->first + found->second);
}

CUresult copy(const char* who, CUdeviceptr to, CUdeviceptr from, size_t bytes, bool to_device, bool from_device, CUstream stream,
              bool wait) {
  NEED_CONTEXT();
  if (CUresult seen = to_device ? need_memory(who, to, bytes) : need_host(who, (void*)to, bytes)) return seen;
  if (CUresult seen = from_device ? need_memory(who, from, bytes) : need_host(who, (void*)from, bytes)) return seen;
  const Count kind = !from_device ? TO_DEVICE : !to_device ? TO_HOST : ON_DEVICE;
  ++counts[kind];
  if (kind != ON_DEVICE) counts[kind + 1] += bytes;
  stream = stream_of(stream);
  // From pageable memory a driver copies at once, into a staging buffer of its own; to it, it waits.
  if (!from_device && !is_pinned((void*)from, bytes)) {
    auto staged = std::make_shared<Bytes>((char*)from, (char*)from + bytes);
    return later(stream, [=] { memcpy((void*)to, staged->data(), bytes); return CUDA_SUCCESS; });
  }
  const CUresult seen = later(stream, [=] { memmove((void*)to, (void*)from, bytes); return CUDA_SUCCESS; });
  if (seen || !(wait || (!to_device && !is_pinned((void*)to, bytes)))) return seen;
  return drain(stream);
}

template <class T>
CUresult set(CUdeviceptr at, T value, size_t count, CUstream stream) {
  NEED_CONTEXT();
  if (CUresult seen = need_memory("cuMemset", at, count * sizeof(T))) return seen;
  if (at % sizeof(T)) return fault(CUDA_ERROR_INVALID_VALUE, "cuMemset: the address is not aligned to the value");
  ++counts[CLEARED];
  return later(stream_of(stream), [=] { for (size_t i = 0; i < count; ++i) ((T*)at)[i] = value; return CUDA_SUCCESS; });
}

CUresult load(CUmodule* made, const char* image) {
  const auto* head = (const Elf64_Ehdr*)image;
  if (memcmp(image, ELFMAG, SELFMAG)) return fault(CUDA_ERROR_INVALID_IMAGE, "not an ELF image");
  if (head->e_machine != EM_X86_64 && head->e_machine != EM_AARCH64)
    return fault(CUDA_ERROR_NO_BINARY_FOR_GPU, "the image is for a real GPU; nvcc was not the stand-in");
  const size_t size = head->e_shoff + size_t(head->e_shentsize) * head->e_shnum;
  char name[] = "/tmp/stand-in-XXXXXX";
  const int file = mkstemp(name);
  const bool written = file >= 0 && write(file, image, size) == ssize_t(size);
  close(file);
  void* library = written ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : nullptr;
  unlink(name);
  if (library == nullptr) return fault(CUDA_ERROR_INVALID_IMAGE, written ? dlerror() : "cannot write the image to /tmp");
  ++counts[MODULES];
  *made = new CUmod_st{library, {}};
  return CUDA_SUCCESS;
}

// The kind of an argument: i int, u unsigned, f float, d double, s a struct, p a pointer to 4 bytes, q to 8.
bool pointer(char kind) { return kind == 'p' || kind == 'q'; }

// The arguments in one block of memory, each at its own alignment, from `kernelParams` or from `extra`.
CUresult gather(const CUfunc_st& f, void** parameters, void** extra, Bytes& made, std::vector<size_t>& places) {
  const size_t count = f.kinds.size(), end = f.places[count - 1] + f.sizes[count - 1];
  places.assign(f.places, f.places + count);
  made.resize(end);
  if (parameters != nullptr) {
    for (size_t i = 0; i < count; ++i) memcpy(&made[places[i]], parameters[i], f.sizes[i]);
    return CUDA_SUCCESS;
  }
  const void* buffer = nullptr;
  size_t size = 0;
  for (; extra != nullptr && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[1];
    if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) size = *(size_t*)extra[1];
  }
  if (buffer == nullptr || size != end)
    return fault(CUDA_ERROR_INVALID_VALUE, text("%s: %zu bytes of arguments, its signature has %zu", f.name.c_str(), size, end));
  memcpy(made.data(), buffer, size);
  return CUDA_SUCCESS;
}

// Appends the counts of this process to the file that STAND_IN_REPORT names, for tests/stand_in/run.py to add up.
struct Report {
  ~Report() {
    const char* path = getenv("STAND_IN_REPORT");
    FILE* file = path != nullptr && started ? fopen(path, "a") : nullptr;
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

CUresult CUDAAPI cuGetErrorString(CUresult error, const char** made) {
  static const std::map<int, const char*> names = {
      {0, "no error"}, {1, "invalid argument"}, {2, "out of memory"}, {3, "initialization error"}, {100, "no device"},
      {101, "invalid device ordinal"}, {200, "device kernel image is invalid"}, {201, "invalid device context"},
      {209, "no kernel image is available for this device"}, {400, "invalid resource handle"}, {500, "named symbol not found"},
      {600, "device not ready"}, {700, "an illegal memory access was encountered"}, {701, "too many resources requested for launch"},
      {801, "operation not supported"}};
  static thread_local std::string whole_text;
  auto found = names.find(error);
  whole_text = found == names.end() ? "error " + std::to_string(error) : found->second;
  if (error && !complaint.empty()) whole_text += " (" + complaint + ")";
  complaint.clear();
  *made = whole_text.c_str();
  return CUDA_SUCCESS;
}

// Devices and contexts
CUresult CUDAAPI cuInit(unsigned) { started = true; return CUDA_SUCCESS; }
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
CUresult CUDAAPI cuCtxSynchronize() { NEED_CONTEXT(); return drain_all(); }

// Memory
CUresult CUDAAPI cuMemAlloc(CUdeviceptr* made, size_t bytes) {
  NEED_CONTEXT();
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
  auto found = live.find(at);
  if (found == live.end()) return fault(CUDA_ERROR_INVALID_VALUE, text("cuMemFree of %#llx, which is not an allocation", at));
  CUresult seen = drain_all();
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
CUresult CUDAAPI cuMemHostAlloc(void** made, size_t bytes, unsigned) {
  NEED_CONTEXT();
  if (bytes == 0) return fault(CUDA_ERROR_INVALID_VALUE, "cuMemHostAlloc of 0 bytes");
  *made = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (*made == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  memset(*made, FRESH, bytes);
  pinned[CUdeviceptr(*made)] = bytes;
  counts[PINNED] += bytes;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemFreeHost(void* at) {
  NEED_CONTEXT();
  auto found = pinned.find(CUdeviceptr(at));
  if (found == pinned.end()) return fault(CUDA_ERROR_INVALID_VALUE, "cuMemFreeHost of what was not allocated");
  const CUresult seen = drain_all();
  counts[PINNED] -= found->second;
  pinned.erase(found);
  free(at);
  return seen;
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

// Modules and functions
CUresult CUDAAPI cuModuleLoadData(CUmodule* made, const void* image) { NEED_CONTEXT(); return load(made, (const char*)image); }
CUresult CUDAAPI cuModuleLoadDataEx(CUmodule* made, const void* image, unsigned, CUjit_option*, void**) {
  NEED_CONTEXT();
  return load(made, (const char*)image);
}
CUresult CUDAAPI cuModuleUnload(CUmodule module) {
  NEED_CONTEXT();
  const CUresult seen = drain_all();
  dlclose(module->library);
  delete module;
  --counts[MODULES];
  return seen;
}
CUresult CUDAAPI cuModuleGetFunction(CUfunction* made, CUmodule module, const char* name) {
  NEED_CONTEXT();
  auto& kept = module->functions[name];
  if (!kept) {
    auto* run = (void (*)(const char*, int))dlsym(module->library, (std::string("stand_in_run_") + name).c_str());
    auto* kinds = (const char*)dlsym(module->library, (std::string("stand_in_kinds_") + name).c_str());
    auto* places = (const size_t*)dlsym(module->library, (std::string("stand_in_places_") + name).c_str());
    auto* sizes = (const size_t*)dlsym(module->library, (std::string("stand_in_sizes_") + name).c_str());
    if (run == nullptr || kinds == nullptr) return fault(CUDA_ERROR_NOT_FOUND, text("the module has no kernel %s", name));
    kept.reset(new CUfunc_st{name, kinds, places, sizes, run});
  }
  *made = kept.get();
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuFuncGetAttribute(int* made, CUfunction_attribute which, CUfunction) {
  *made = which == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }
CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction, CUfunc_cache) { return CUDA_SUCCESS; }
CUresult CUDAAPI cuFuncSetBlockShape(CUfunction, int, int, int) { return CUDA_SUCCESS; }

CUresult CUDAAPI cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                unsigned shared, CUstream stream, void** parameters, void** extra) {
  NEED_CONTEXT();
  const char* name = f->name.c_str();
  if (gx == 0 || gy == 0 || gz == 0 || gx > 2147483647u || gy > 65535 || gz > 65535)
    return fault(CUDA_ERROR_INVALID_VALUE, text("%s: a grid of %u x %u x %u", name, gx, gy, gz));
  if (bx == 0 || by == 0 || bz == 0 || bx > 1024 || by > 1024 || bz > 64 || bx * by * bz > 1024)
    return fault(CUDA_ERROR_INVALID_VALUE, text("%s: blocks of %u x %u x %u threads", name, bx, by, bz));
  if (shared > 49152) return fault(CUDA_ERROR_INVALID_VALUE, text("%s: %u bytes of shared memory", name, shared));
  Bytes arguments;
  std::vector<size_t> places;
  if (CUresult seen = gather(*f, parameters, extra, arguments, places)) return seen;
  std::vector<std::pair<CUdeviceptr, size_t>> used;
  for (size_t i = 0; i < places.size(); ++i) {
    if (!pointer(f->kinds[i])) continue;
    CUdeviceptr at;
    memcpy(&at, &arguments[places[i]], sizeof at);
    if (at == 0) continue;
    if (CUresult seen = need_memory(text("%s, argument %zu", name, i).c_str(), at, 0)) return seen;
    if (at % (f->kinds[i] == 'q' ? 8 : 4)) return fault(CUDA_ERROR_INVALID_VALUE, text("%s, argument %zu: misaligned", name, i));
    used.push_back({holder(at, 0)->first, holder(at, 0)->second.size});
  }
  ++counts[LAUNCHES];
  counts[ONE_THREAD] += bx * by * bz == 1;
  ++launched[f->name];
  const int blocks = gx * gy * gz < 3 ? gx * gy * gz : 3;
  return later(stream_of(stream), [f, arguments, used, blocks] {
    f->run(arguments.data(), blocks);
    CUresult first = CUDA_SUCCESS;
    for (auto [at, size] : used)
      if (CUresult seen = whole(at, size, f->name); !first) first = seen;
    return first;
  });
}

// Streams and events
CUresult CUDAAPI cuStreamCreate(CUstream* made, unsigned) {
  NEED_CONTEXT();
  streams.push_back(*made = new CUstream_st{device(), {}});
  ++counts[STREAMS];
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuStreamDestroy(CUstream stream) {
  NEED_CONTEXT();
  const CUresult seen = drain(stream);
  for (size_t i = 0; i < streams.size(); ++i)
    if (streams[i] == stream) streams.erase(streams.begin() + i);
  delete stream;
  --counts[STREAMS];
  return seen;
}
CUresult CUDAAPI cuStreamSynchronize(CUstream stream) { NEED_CONTEXT(); return drain(stream_of(stream)); }
CUresult CUDAAPI cuStreamQuery(CUstream stream) {
  NEED_CONTEXT();
  return stream_of(stream)->work.empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
CUresult CUDAAPI cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  NEED_CONTEXT();
  auto moment = event->moment;
  return later(stream_of(stream), [moment] { return moment->recorded && !moment->done ? drain(moment->stream) : CUDA_SUCCESS; });
}
CUresult CUDAAPI cuEventCreate(CUevent* made, unsigned) {
  NEED_CONTEXT();
  *made = new CUevent_st{std::make_shared<Moment>()};
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuEventDestroy(CUevent event) { NEED_CONTEXT(); delete event; return CUDA_SUCCESS; }
CUresult CUDAAPI cuEventRecord(CUevent event, CUstream stream) {
  NEED_CONTEXT();
  event->moment = std::make_shared<Moment>();
  auto moment = event->moment;
  moment->stream = stream_of(stream);
  moment->recorded = true;
  return later(moment->stream, [moment] { moment->at = Clock::now(); moment->done = true; return CUDA_SUCCESS; });
}
CUresult CUDAAPI cuEventQuery(CUevent event) { return event->moment->done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY; }
CUresult CUDAAPI cuEventSynchronize(CUevent event) {
  NEED_CONTEXT();
  return event->moment->recorded && !event->moment->done ? drain(event->moment->stream) : CUDA_SUCCESS;
}
CUresult CUDAAPI cuEventElapsedTime_v2(float* made, CUevent from, CUevent to) {
  if (!from->moment->done || !to->moment->done) return CUDA_ERROR_NOT_READY;
  *made = std::chrono::duration<float, std::milli>(to->moment->at - from->moment->at).count();
  return CUDA_SUCCESS;
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
REFUSE(cuMemAllocManaged) REFUSE(cuMemAllocPitch_v2) REFUSE(cuMemHostGetDevicePointer_v2) REFUSE(cuMemHostRegister_v2)
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
