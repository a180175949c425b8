// translated.h: what the stand-in's driver does for kernels that simt.h runs.
#pragma once

struct Driver {
  bool (*find)(unsigned long long at, unsigned long long* first, unsigned long long* end);  // the allocation that holds an address
  void (*fail)(const char* what);
  void (*tell)(const char* kernel, const char* what, unsigned long long value);  // null: nothing is counted
};
