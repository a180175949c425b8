// state.cpp: what the parts of the stand-in share.
#include "state.h"

namespace stand_in {

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

CUresult need_context() {
  if (started && process != getpid()) return fault(CUDA_ERROR_NOT_INITIALIZED, "the driver was started before this process was forked");
  if (!current.empty() && current.back() != nullptr && current.back()->retained == 0)
    return fault(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context has ended");
  return current.empty() || current.back() == nullptr
             ? fault(CUDA_ERROR_INVALID_CONTEXT, "this thread has no current context") : CUDA_SUCCESS;
}

CUresult need_no_capture(const char* who) {
  if (capturing == nullptr) return CUDA_SUCCESS;
  capturing->broken = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  return fault(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, text("%s while a stream captures", who));
}

// A handle of the whole device stands for its capturing streams too (CUDA's guide, prohibited operations of stream capture).
CUresult need_no_captures(const char* who) {
  CUresult seen = need_no_capture(who);
  for (CUstream stream : streams)
    if (!seen && stream->graph && stream->device == device()) {
      stream->broken = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
      seen = fault(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, text("%s while a stream of the device captures in another thread", who));
    }
  return seen;
}

// The allocation that holds `bytes` bytes from `at` on, or live.end(). An empty range may lie at the end of one.
std::map<CUdeviceptr, Memory>::iterator holder(CUdeviceptr at, size_t bytes) {
  auto found = live.upper_bound(at);
  if (found == live.begin()) return live.end();
  --found;
  return at + bytes <= found->first + found->second.size ? found : live.end();
}

bool inside(const std::map<CUdeviceptr, size_t>& areas, CUdeviceptr at, size_t bytes) {
  auto found = areas.upper_bound(at);
  return found != areas.begin() && (--found, at + bytes <= found->first + found->second);
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
    static const std::vector<unsigned char> fresh(ZONE, FRESH);
    if (!memcmp(zone, fresh.data(), bytes)) return -1l;
    const long seen = std::find_if(zone, zone + bytes, [](unsigned char byte) { return byte != FRESH; }) - zone;
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

// Whether a stream can be given work: it lives, and the current context is that of its device.
CUresult need_stream(const char* who, CUstream given) {
  if (given == nullptr || given == CU_STREAM_LEGACY || given == CU_STREAM_PER_THREAD) {
    for (CUstream stream : streams) {
      // Of a stream that does not wait for the null stream this is legal, but in the thread that captures nobody means it.
      if (!stream->graph || stream->device != device() || (!stream->blocking && stream != capturing)) continue;
      stream->broken = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
      return fault(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, text("%s in the null stream while a stream captures", who));
    }
    return CUDA_SUCCESS;
  }
  if (std::find(streams.begin(), streams.end(), given) == streams.end())
    return fault(CUDA_ERROR_INVALID_HANDLE, text("%s: the stream is destroyed, or was never made", who));
  if (given->device != device())
    return fault(CUDA_ERROR_INVALID_HANDLE, text("%s: a stream of device %d, context of device %d", who, given->device, device()));
  if (given->graph && given != capturing) {  // CUDA would take it into the capture, or with an event the other stream
    given->broken = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    return fault(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, text("%s in a stream that another thread captures", who));
  }
  if (given->graph && given->broken) return fault(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, text("%s: the capture is broken", who));
  return CUDA_SUCCESS;
}

// A job that waits for another process says CUDA_ERROR_NOT_READY: who waits tries it again, up to a minute, who only asks comes again.
CUresult drain(CUstream stream, bool asks) {
  CUresult first = CUDA_SUCCESS;
  for (int turns = 0; !stream->work.empty();) {
    Job job = std::move(stream->work.front());
    stream->work.pop_front();
    const CUresult seen = job();
    if (seen == CUDA_ERROR_NOT_READY) {
      stream->work.push_front(std::move(job));
      if (asks) return seen;
      if (++turns > 60000) return fault(CUDA_ERROR_LAUNCH_TIMEOUT, "a wait for another rank that does not come");
      usleep(1000);
      continue;
    }
    if (!first) first = seen;
  }
  return first;
}

CUresult drain_streams() {
  CUresult first = CUDA_SUCCESS;
  for (CUstream stream : {&plain[0], &plain[1]})
    if (CUresult seen = drain(stream); !first) first = seen;
  for (const auto& list : {streams, ended})
    for (CUstream stream : std::vector<CUstream>(list))
      if (CUresult seen = drain(stream); !first) first = seen;
  return first;
}

CUresult drain_all() {
  CUresult first = drain_streams();
  for (auto& [at, memory] : live)
    if (CUresult seen = whole(at, memory.size, "something"); !first) first = seen;
  return first;
}

// Queues work for a stream. The null stream waits for those that are made to block, as CUDA's does.
CUresult later(CUstream stream, Job job) {
  if (stream == &plain[0] || stream == &plain[1]) {
    CUresult first = CUDA_SUCCESS;
    for (CUstream other : std::vector<CUstream>(streams))
      if (other->blocking && other->device == stream->device)
        if (CUresult seen = drain(other); !first) first = seen;
    const CUresult seen = job();
    return first ? first : seen;
  }
  if (stream->graph) {
    stream->graph->work.push_back(std::move(job));
    return CUDA_SUCCESS;
  }
  stream->work.push_back(std::move(job));
  return stream->work.size() > WAITING ? drain(stream) : CUDA_SUCCESS;
}

}  // namespace stand_in
