// xla.cpp: what XLA calls for an operator, in threads of its own, before xla.py's function. A process that ends may have such calls
// before it, whose results nobody waits for: a thread that asked for Python then would end, or stand still, and XLA waits for it
// for ever. So calls are refused here once Python begins to end.
#include <atomic>
#include <chrono>
#include <thread>

#include "entry.h"

#if ONCE(Real)
// The beginnings of XLA_FFI_CallFrame, XLA_FFI_Api and XLA_FFI_Error_Create_Args (xla/ffi/api/c_api.h, of major version 0).
struct Complaint {
  size_t size;
  void* extension;
  const char* message;
  int code;
};
struct XlaApi {
  size_t size;
  void* extension;
  size_t version_size;
  void* version_extension;
  int major, minor;
  void* internal;
  void* (*error)(Complaint*);
};
struct XlaFrame {
  size_t size;
  void* extension;
  const XlaApi* api;
};
typedef void* XlaHandler(XlaFrame* frame);

static XlaHandler* xla_handler = nullptr;
static std::atomic<bool> xla_ended{false};
static std::atomic<int> xla_calls{0};

static void* xla_refuse(const XlaFrame* frame) {
  Complaint complaint = {sizeof(Complaint), nullptr, "Python ends: this operator of Boxpresso was not run", 1};  // cancelled
  return frame->api->error(&complaint);
}

ENTRY void boxpresso_xla_connect(XlaHandler* handler) {
  xla_handler = handler;
  xla_ended = false;
}

ENTRY void* boxpresso_xla_call(XlaFrame* frame) {
  ++xla_calls;
  void* error = xla_ended ? xla_refuse(frame) : xla_handler(frame);
  --xla_calls;
  return error;
}

// Refuses calls from here on, and waits for those that have begun.
ENTRY void boxpresso_xla_end() {
  xla_ended = true;
  while (xla_calls) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}
#endif
