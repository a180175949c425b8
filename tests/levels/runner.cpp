// runner.cpp: a program that runs the kernels of the file before it, on arrays that come by standard input and go by standard
// output: for a machine that is not this one. STEPS is a table of the `step_` functions of device/compiler.py, which
// return the bytes of memory that they lacked.
//
// A launch: its kernel, workers, how many buffers and slots there are; each buffer with its size, the last bits of its address and its
// bytes; each slot as a buffer, or -1, and the place in it, or the slot's own bytes. The answer: the bytes of all buffers. All numbers
// have eight bytes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr size_t PAGE = 4096, FENCE = 256;  // bytes before and behind a buffer that stay as they are
constexpr unsigned char WOOD = 0xa5;

static int64_t number() {
  int64_t value;
  if (std::fread(&value, sizeof value, 1, stdin) != 1) std::exit(0);  // nobody asks any more
  return value;
}

int main() {
  for (;;) {
    const int64_t kernel = number(), workers = number(), buffers = number(), count = number();
    struct Buffer { unsigned char *whole, *at; size_t size, all; };
    Buffer* buffer = new Buffer[buffers];
    for (int64_t i = 0; i < buffers; ++i) {
      Buffer& b = buffer[i];
      b.size = size_t(number());
      const size_t last = size_t(number());
      b.all = (last + b.size + 2 * PAGE + FENCE) / PAGE * PAGE;
      b.whole = static_cast<unsigned char*>(std::aligned_alloc(PAGE, b.all));
      if (b.whole == nullptr) std::abort();
      std::memset(b.whole, WOOD, b.all);
      b.at = b.whole + PAGE + last;
      if (b.size && std::fread(b.at, b.size, 1, stdin) != 1) std::abort();
    }
    void** slots = new void*[count];
    for (int64_t i = 0; i < count; ++i) {
      const int64_t from = number(), value = number();
      if (from < 0) std::memcpy(&slots[i], &value, sizeof value);
      else slots[i] = buffer[from].at + value;
    }
    for (int64_t w = 0; w < workers; ++w)
      if (const long long bytes = STEPS[kernel](int(w), int(workers), slots)) {
        std::fprintf(stderr, "kernel %d lacks %lld bytes of memory\n", int(kernel), bytes);
        return 1;
      }
    for (int64_t i = 0; i < buffers; ++i) {
      const Buffer& b = buffer[i];
      for (size_t k = 0; k < b.all; ++k)
        if ((b.whole + k < b.at || b.whole + k >= b.at + b.size) && b.whole[k] != WOOD) {
          std::fprintf(stderr, "kernel %d writes %ld bytes from the start of an array of %zu\n", int(kernel),
                       long(b.whole + k - b.at), b.size);
          return 1;
        }
      std::fwrite(b.at, 1, b.size, stdout);
      std::free(b.whole);
    }
    std::fflush(stdout);
    delete[] slots;
    delete[] buffer;
  }
}
