// state.h: what the parts of the stand-in for NVIDIA's driver share: memory, streams, contexts, and how faults are told.
#pragma once
#include <cuda.h>
#include <dlfcn.h>
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

#include "translated.h"

using Job = std::function<CUresult()>;
using Bytes = std::vector<char>;

struct CUctx_st { int device, retained; };
struct CUgraph_st { std::vector<Job> work; };
struct CUgraphExec_st { int device; std::vector<Job> work; };
// graph: what the stream is given goes there while it captures; broken: why the capture cannot end well.
// blocking: whether it and the null stream wait for each other.
struct CUstream_st {
  int device;
  std::deque<Job> work;
  std::shared_ptr<CUgraph_st> graph;
  CUresult broken = CUDA_SUCCESS;
  bool blocking = true;
};
struct Moment { CUstream stream = nullptr; double at = 0; bool recorded = false, done = false; int asked = 0; };  // at: milliseconds
struct CUevent_st { std::shared_ptr<Moment> moment; };
struct CUmod_st { void* library; std::map<std::string, std::unique_ptr<CUfunc_st>> functions; };
struct CUfunc_st {
  std::string name, kinds;
  const size_t *places, *sizes;  // of each argument, in bytes, as the compiler lays them out
  void (*run)(const char* arguments, int blocks);
  int (*grid)(const char* arguments, const unsigned* grid, const unsigned* block, const Driver* driver);  // of translated PTX
};

namespace stand_in {

constexpr size_t ZONE = 512, ALIGN = 256, WAITING = 512;  // bytes beside an allocation; jobs that a stream may hold back
constexpr int ASKED = 8;  // how often an event is asked for until its stream goes on: who does that waits
constexpr int SWEEP = 32;  // all red zones are looked at when so many arrays were freed, as there may be thousands of others
constexpr unsigned char FRESH = 0xFF;                      // a NaN in float and double, -1 in int
enum Count { LAUNCHES, TO_DEVICE, TO_DEVICE_BYTES, TO_HOST, TO_HOST_BYTES, ON_DEVICE, CLEARED, ALLOCATED, FREED, HELD, PINNED,
             STREAMS, MODULES, FAULTS, ONE_THREAD, WAITS, CAPTURES, GRAPHS, REPLAYS, LIBRARY_CALLS, HANDLES, DESCRIPTORS,
             SUMS, PAGEABLE_BYTES, COUNTS };

struct Memory { size_t size; int device; };
inline std::recursive_mutex mutex;
using Lock = std::lock_guard<std::recursive_mutex>;
inline std::map<CUdeviceptr, Memory> live;
inline std::map<CUdeviceptr, size_t> pinned;
inline std::map<CUdeviceptr, size_t> mapped;  // those of them that kernels may use
inline std::map<std::string, long> launched;
inline std::vector<CUstream> streams, ended;  // those that live, and those that were destroyed, which may have work yet
inline unsigned long long counts[COUNTS];
inline size_t total = size_t(4) << 30;
inline bool started = false;
inline int process = 0;  // which has called cuInit: a fork of it cannot use the driver
inline bool null_launches = false;  // kernels and libraries are checked and counted, and not run
// What events tell is made up, so that what is chosen by it is the same in every run: all work so far, a kernel or product 5 us, a
// copy or fill 1 us, a convolution by cuDNN what the tests say, with channels first and last.
inline double spent = 0, kernel_ms = 0.005, copy_ms = 0.001, layout_ms[2] = {0.010, 0.020};
// What a test makes cuDNN do that its manual allows: the math that all algorithms are said to be of, if any; one that is listed and
// yet refuses, and with which status.
inline int said_math = -1, refused_algorithm = -1, refused_status = 3000;
inline CUresult lost[2] = {CUDA_SUCCESS, CUDA_SUCCESS};  // the error of each device after which its context takes no more work
inline int create_status = 0;  // what a library says when it is asked for a handle, as on a GPU that it is not for; 0: nothing
inline CUctx_st primary[2] = {{0, 0}, {1, 0}};  // two devices, so that a mix of them is found
inline CUstream_st plain[2] = {{0, {}, nullptr}, {1, {}, nullptr}};
inline thread_local std::vector<CUcontext> current;
inline thread_local std::string complaint;
inline thread_local std::string misaligned;  // where the kernel that runs has used an address that its loads do not take
inline thread_local CUstream capturing = nullptr;  // the stream whose work this thread captures
inline thread_local bool relaxed = false;               // in the mode that lets it allocate meanwhile

CUresult fault(CUresult code, const std::string& what);
std::string text(const char* format, ...);
inline int device() { return current.back()->device; }
CUresult need_context();
CUresult need_no_capture(const char* who);
CUresult need_no_captures(const char* who);
#define NEED_CONTEXT() \
  Lock hold(mutex);    \
  if (CUresult seen = need_context()) return seen; \
  if (lost[device()]) return lost[device()]
// Of a call that CUDA refuses, with the whole capture, in a thread that captures.
#define NEED_NO_CAPTURE(who) \
  if (CUresult seen = need_no_capture(who)) return seen

// Of a call that waits for all streams of the device: CUDA refuses it while any of them captures, in whichever thread.
#define NEED_NO_CAPTURES(who) \
  if (CUresult seen = need_no_captures(who)) return seen

std::map<CUdeviceptr, Memory>::iterator holder(CUdeviceptr at, size_t bytes);
CUresult need_memory(const char* who, CUdeviceptr at, size_t bytes);
bool inside(const std::map<CUdeviceptr, size_t>& areas, CUdeviceptr at, size_t bytes);
CUresult need_host(const char* who, const void* at, size_t bytes);
CUresult whole(CUdeviceptr at, size_t size, const std::string& who);
CUstream stream_of(CUstream given);
CUresult need_stream(const char* who, CUstream given);
CUresult drain(CUstream stream, bool asks = false);
CUresult drain_streams();
CUresult drain_all();  // and looks at all red zones
CUresult later(CUstream stream, Job job);

}  // namespace stand_in
