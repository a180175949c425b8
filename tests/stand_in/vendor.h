// vendor.h: what the stand-ins for cuBLAS and cuDNN have in common. Included where Status and Handle are known.
#pragma once
#include "state.h"

namespace {

std::vector<Handle> handles;
thread_local std::string said;

Status refuse(Status status, const std::string& what) {
  said = what;
  fault(CUDA_ERROR_INVALID_VALUE, what);
  return status;
}

Status need_handle(const char* who, Handle handle) {
  if (std::find(handles.begin(), handles.end(), handle) == handles.end())
    return refuse(NOT_INITIALIZED, text("%s: the handle is destroyed, or was never made", who));
  if (need_context()) return refuse(FAILED, text("%s: no context is current", who));
  if (handle->device != device())
    return refuse(FAILED, text("%s: a handle of device %d, context of device %d", who, handle->device, device()));
  return SUCCESS;
}
#define NEED_HANDLE(who) \
  Lock hold(mutex);      \
  if (Status seen = need_handle(who, handle)) return seen

// A float as TF32 sees it: 10 bits of its fraction.
float as_tf32(float value) {
  unsigned bits;
  memcpy(&bits, &value, 4);
  bits = (bits + 0x1000u) & ~0x1FFFu;
  memcpy(&value, &bits, 4);
  return value;
}

template <class Context>
Status make_handle(const char* who, Context** made) {
  Lock hold(mutex);
  if (made == nullptr) return refuse(NULL_POINTER, text("%s: null", who));
  if (need_context()) return refuse(NOT_INITIALIZED, text("%s: no context is current", who));
  if (need_no_captures(who)) return refuse(NOT_INITIALIZED, complaint);  // it allocates, and fills in the null stream
  if (create_status) return refuse(Status(create_status), text("%s: as the test says", who));
  *made = new Context{};
  (*made)->device = device();
  handles.push_back(*made);
  ++counts[HANDLES];
  return SUCCESS;
}

Status destroy_handle(const char* who, Handle handle) {
  NEED_HANDLE(who);
  if (need_no_captures(who)) return refuse(FAILED, complaint);  // it waits for the device, as both manuals say
  drain_all();
  handles.erase(std::find(handles.begin(), handles.end(), handle));
  --counts[HANDLES];
  delete handle;
  return SUCCESS;
}

}  // namespace
