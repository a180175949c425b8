// launch.cpp: modules, launches, streams, events, and graphs of what a stream was given while it captured.
#include "state.h"

using namespace stand_in;

namespace {

CUresult load(CUmodule* made, const char* image) {
  NEED_NO_CAPTURES("cuModuleLoad");
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

// What translated PTX asks: see simt.h.
thread_local std::string failed;
bool find(unsigned long long at, unsigned long long* first, unsigned long long* end) {
  if (auto found = holder(at, 1); found != live.end()) {
    *first = found->first, *end = found->first + found->second.size;
    return true;
  }
  auto found = mapped.upper_bound(at);
  if (found == mapped.begin() || (--found, at >= found->first + found->second)) return false;
  *first = found->first, *end = found->first + found->second;
  return true;
}
// What kernels have done, by kernel and what it is.
std::map<std::pair<std::string, std::string>, unsigned long long> profile;
const Driver for_grids = {
    find, [](const char* what) { failed = what; },
    getenv("STAND_IN_PROFILE") == nullptr ? nullptr : +[](const char* kernel, const char* what, unsigned long long value) {
      profile[{kernel, what}] += value;
    }};

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
}  // namespace

extern "C" {

// Writes what translated kernels have done since the last time, where they count it: "kernel, what, how often" a line.
void stand_in_profile(const char* path) {
  Lock hold(mutex);
  FILE* file = fopen(path, "w");
  for (auto& [of, value] : profile) file && fprintf(file, "%s\t%s\t%llu\n", of.first.c_str(), of.second.c_str(), value);
  if (file) fclose(file);
  profile.clear();
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
    NEED_NO_CAPTURES("cuModuleGetFunction");  // it loads a kernel (CUDA's guide, lazy loading), and may wait for the device
    auto* run = (void (*)(const char*, int))dlsym(module->library, (std::string("stand_in_run_") + name).c_str());
    auto* kinds = (const char*)dlsym(module->library, (std::string("stand_in_kinds_") + name).c_str());
    auto* places = (const size_t*)dlsym(module->library, (std::string("stand_in_places_") + name).c_str());
    auto* sizes = (const size_t*)dlsym(module->library, (std::string("stand_in_sizes_") + name).c_str());
    auto* grid = (decltype(CUfunc_st::grid))dlsym(module->library, (std::string("stand_in_grid_") + name).c_str());
    if ((run == nullptr && grid == nullptr) || kinds == nullptr) return fault(CUDA_ERROR_NOT_FOUND, text("the module has no kernel %s", name));
    kept.reset(new CUfunc_st{name, kinds, places, sizes, run, grid});
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
  if (CUresult seen = need_stream(name, stream)) return seen;
  if (gx == 0 || gy == 0 || gz == 0 || gx > 2147483647u || gy > 65535 || gz > 65535)
    return fault(CUDA_ERROR_INVALID_VALUE, text("%s: a grid of %u x %u x %u", name, gx, gy, gz));
  if (bx == 0 || by == 0 || bz == 0 || bx > 1024 || by > 1024 || bz > 64 || bx * by * bz > 1024)
    return fault(CUDA_ERROR_INVALID_VALUE, text("%s: blocks of %u x %u x %u threads", name, bx, by, bz));
  if (shared > 49152) return fault(CUDA_ERROR_INVALID_VALUE, text("%s: %u bytes of shared memory", name, shared));
  Bytes arguments;
  std::vector<size_t> places;
  if (CUresult seen = gather(*f, parameters, extra, arguments, places)) return seen;
  std::vector<std::pair<CUdeviceptr, size_t>> used;
  std::vector<CUdeviceptr> of_host;
  for (size_t i = 0; i < places.size(); ++i) {
    if (!pointer(f->kinds[i])) continue;
    CUdeviceptr at;
    memcpy(&at, &arguments[places[i]], sizeof at);
    if (at == 0) continue;
    if (at % (f->kinds[i] == 'q' ? 8 : 4)) return fault(CUDA_ERROR_INVALID_VALUE, text("%s, argument %zu: misaligned", name, i));
    if (inside(mapped, at, 0)) {
      of_host.push_back(at);
      continue;
    }
    if (CUresult seen = need_memory(text("%s, argument %zu", name, i).c_str(), at, 0)) return seen;
    used.push_back({holder(at, 0)->first, holder(at, 0)->second.size});
  }
  ++counts[LAUNCHES];
  counts[ONE_THREAD] += bx * by * bz == 1;
  ++launched[f->name];
  const int blocks = gx * gy * gz < 3 ? gx * gy * gz : 3;
  const std::array<unsigned, 6> shape = {gx, gy, gz, bx, by, bz};
  if (null_launches && capturing == nullptr) return CUDA_SUCCESS;
  return later(stream_of(stream), [f, arguments, used, of_host, blocks, shape] {
    for (CUdeviceptr at : of_host)
      if (!inside(mapped, at, 0)) return fault(CUDA_ERROR_ILLEGAL_ADDRESS, text("%s: the host's memory at %#llx is freed by now", f->name.c_str(), at));
    for (auto [at, size] : used)  // a graph may outlive what it was captured with
      if (auto found = live.find(at); found == live.end() || found->second.size != size)
        return fault(CUDA_ERROR_ILLEGAL_ADDRESS, text("%s: memory at %#llx is freed by now", f->name.c_str(), at));
    misaligned.clear();
    if (f->grid) {
      if (f->grid(arguments.data(), &shape[0], &shape[3], &for_grids)) return fault(CUDA_ERROR_ILLEGAL_ADDRESS, failed);
    } else {
      f->run(arguments.data(), blocks);
    }
    if (!misaligned.empty()) return fault(CUDA_ERROR_MISALIGNED_ADDRESS, text("%s: %s", f->name.c_str(), misaligned.c_str()));
    spent += kernel_ms;
    CUresult first = CUDA_SUCCESS;
    for (auto [at, size] : used)
      if (CUresult seen = whole(at, size, f->name); !first) first = seen;
    return first;
  });
}

// Streams and events
CUresult CUDAAPI cuStreamCreate(CUstream* made, unsigned flags) {
  NEED_CONTEXT();
  streams.push_back(*made = new CUstream_st{device(), {}, nullptr, CUDA_SUCCESS, !(flags & CU_STREAM_NON_BLOCKING)});
  ++counts[STREAMS];
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuStreamDestroy(CUstream stream) {
  NEED_CONTEXT();
  if (CUresult seen = need_stream("cuStreamDestroy", stream)) return seen;
  streams.erase(std::find(streams.begin(), streams.end(), stream));
  ended.push_back(stream);  // what it was given runs on, as the manual says
  --counts[STREAMS];
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuStreamSynchronize(CUstream stream) {
  NEED_CONTEXT();
  if (CUresult seen = need_stream("cuStreamSynchronize", stream)) return seen;
  if (stream_of(stream)->graph) NEED_NO_CAPTURE("cuStreamSynchronize");
  ++counts[WAITS];
  return drain(stream_of(stream));
}
CUresult CUDAAPI cuStreamQuery(CUstream stream) {
  NEED_CONTEXT();
  if (stream_of(stream)->graph) {  // also in the thread that captures
    stream_of(stream)->broken = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    return fault(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cuStreamQuery of a stream that is captured");
  }
  return stream_of(stream)->work.empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
CUresult CUDAAPI cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  NEED_CONTEXT();
  if (CUresult seen = need_stream("cuStreamWaitEvent", stream)) return seen;
  NEED_NO_CAPTURE("cuStreamWaitEvent");  // stricter than CUDA, which lets a second stream join: nothing of ours does
  auto moment = event->moment;
  return later(stream_of(stream), [moment] { return moment->recorded && !moment->done ? drain(moment->stream, true) : CUDA_SUCCESS; });
}
CUresult CUDAAPI cuEventCreate(CUevent* made, unsigned) {
  NEED_CONTEXT();
  *made = new CUevent_st{std::make_shared<Moment>()};
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuEventDestroy(CUevent event) { NEED_CONTEXT(); delete event; return CUDA_SUCCESS; }
CUresult CUDAAPI cuEventRecord(CUevent event, CUstream stream) {
  NEED_CONTEXT();
  if (CUresult seen = need_stream("cuEventRecord", stream)) return seen;
  NEED_NO_CAPTURE("cuEventRecord");
  event->moment = std::make_shared<Moment>();
  auto moment = event->moment;
  moment->stream = stream_of(stream);
  moment->recorded = true;
  return later(moment->stream, [moment] { moment->at = spent; moment->done = true; return CUDA_SUCCESS; });
}
CUresult CUDAAPI cuEventQuery(CUevent event) {
  NEED_CONTEXT();
  auto moment = event->moment;
  if (moment->done || !moment->recorded) return CUDA_SUCCESS;
  if (++moment->asked < ASKED) return CUDA_ERROR_NOT_READY;
  if (CUresult seen = drain(moment->stream, true)) return seen;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuEventSynchronize(CUevent event) {
  NEED_CONTEXT();
  NEED_NO_CAPTURE("cuEventSynchronize");
  ++counts[WAITS];
  return event->moment->recorded && !event->moment->done ? drain(event->moment->stream) : CUDA_SUCCESS;
}
CUresult CUDAAPI cuEventElapsedTime_v2(float* made, CUevent from, CUevent to) {
  if (!from->moment->done || !to->moment->done) return CUDA_ERROR_NOT_READY;
  *made = float(to->moment->at - from->moment->at);
  return CUDA_SUCCESS;
}

// Capture and graphs
CUresult CUDAAPI cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  NEED_CONTEXT();
  if (stream == nullptr || stream == CU_STREAM_LEGACY)
    return fault(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the null stream cannot capture");
  if (CUresult seen = need_stream("cuStreamBeginCapture", stream)) return seen;
  if (mode == CU_STREAM_CAPTURE_MODE_GLOBAL)
    return fault(CUDA_ERROR_INVALID_VALUE, "cuStreamBeginCapture: the global mode stops other threads' work");
  if (capturing != nullptr || stream->graph) return fault(CUDA_ERROR_ILLEGAL_STATE, "cuStreamBeginCapture: a capture is going on");
  stream->graph = std::make_shared<CUgraph_st>();
  stream->broken = CUDA_SUCCESS;
  capturing = stream;
  relaxed = mode == CU_STREAM_CAPTURE_MODE_RELAXED;
  ++counts[CAPTURES];
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuStreamEndCapture(CUstream stream, CUgraph* made) {
  NEED_CONTEXT();
  *made = nullptr;
  if (capturing != stream || !stream->graph) return fault(CUDA_ERROR_ILLEGAL_STATE, "cuStreamEndCapture: this thread captures nothing there");
  auto graph = stream->graph;
  capturing = nullptr;
  stream->graph = nullptr;
  if (stream->broken) return stream->broken;
  *made = new CUgraph_st(*graph);
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* made) {
  NEED_CONTEXT();
  if (stream_of(stream) == stream_of(nullptr))
    for (CUstream other : streams)
      if (other->graph && other->blocking && other->device == device()) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  *made = stream_of(stream)->graph ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuGraphGetNodes(CUgraph graph, CUgraphNode*, size_t* count) { *count = graph->work.size(); return CUDA_SUCCESS; }
CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec* made, CUgraph graph, unsigned long long) {
  NEED_CONTEXT();
  NEED_NO_CAPTURE("cuGraphInstantiate");
  *made = new CUgraphExec_st{device(), graph->work};
  ++counts[GRAPHS];
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuGraphDestroy(CUgraph graph) { delete graph; return CUDA_SUCCESS; }
CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec graph) {
  NEED_CONTEXT();
  const CUresult seen = drain_all();
  delete graph;
  --counts[GRAPHS];
  return seen;
}
CUresult CUDAAPI cuGraphLaunch(CUgraphExec graph, CUstream stream) {
  NEED_CONTEXT();
  if (CUresult seen = need_stream("cuGraphLaunch", stream)) return seen;
  if (graph->device != device()) return fault(CUDA_ERROR_INVALID_HANDLE, "cuGraphLaunch: a graph of another device");
  ++counts[REPLAYS];
  if (null_launches) return CUDA_SUCCESS;
  for (const Job& job : graph->work)
    if (CUresult seen = later(stream_of(stream), job)) return seen;
  return CUDA_SUCCESS;
}
}
