// nccl.cpp: a stand-in for NCCL on the stand-in for the driver: the ranks are processes of this machine, which meet in memory that
// they share. It refuses what NVIDIA's manual says that NCCL refuses. A communicator that does not block takes its time: what it was
// asked for goes to the stream only once it was asked for its state, so that work is missing where nobody waits for that. Sums are
// made in the order of the ranks, when all have come to them. No header of NCCL is needed: its interface is below.
//
// STAND_IN_NCCL="how rank number status" makes it fail: "begin" as that rank begins, "sum" in that rank's sum of that number.
#include <fcntl.h>
#include <sys/mman.h>

#include <atomic>

#include "state.h"

using namespace stand_in;

enum Result { SUCCESS = 0, SYSTEM_ERROR = 2, INVALID_ARGUMENT = 4, INVALID_USAGE = 5, IN_PROGRESS = 7 };
struct Id { char internal[128]; };
struct Config { size_t size; unsigned magic, version; int blocking; };

namespace {

constexpr size_t ROOM = size_t(16) << 20;
constexpr int RANKS = 8;

struct Slot {
  std::atomic<int> device;  // from 1, once the rank has come
  std::atomic<unsigned long long> given, taken;
  unsigned long long count;
  int type;
};
struct Shared { Slot slots[RANKS]; };

}  // namespace

struct ncclComm {
  int rank, size, device;
  std::string name;  // of the shared memory, until all have come
  Shared* shared;
  char* rooms;
  unsigned long long number = 0;  // of the sums that were asked for
  Result state = IN_PROGRESS;
  bool begun = false;
  int asked = 0;
  std::vector<std::function<void()>> waiting;  // until its state is asked for
};
using Comm = ncclComm*;

namespace {

std::vector<Comm> comms;
thread_local int depth = 0;
thread_local std::vector<std::function<void(Comm)>> grouped;
thread_local Comm of_group = nullptr;
thread_local Result in_group = SUCCESS;
std::string last;

Result refuse(Result result, const std::string& what) {
  last = what;
  fault(CUDA_ERROR_INVALID_VALUE, what);
  return result;
}

bool known(Comm comm) { return std::find(comms.begin(), comms.end(), comm) != comms.end(); }

// The status with which a rank is to fail here, or 0.
int fails(const char* where, int rank, unsigned long long number) {
  const char* said = getenv("STAND_IN_NCCL");
  char how[16];
  int whose, which, status;
  if (!said || sscanf(said, "%15s %d %d %d", how, &whose, &which, &status) != 4 || how != std::string(where)) return 0;
  return whose == rank && unsigned(which) == number ? status : 0;
}

template <class T>
void add(Comm comm, unsigned long long count, T* to) {
  for (unsigned long long i = 0; i < count; ++i) {
    T sum = ((T*)comm->rooms)[i];
    for (int r = 1; r < comm->size; ++r) sum += ((T*)(comm->rooms + r * ROOM))[i];
    to[i] = sum;
  }
}

// One sum in the stream: this rank's part is given once all have taken those of the sum before.
struct Sum {
  Comm comm;
  CUdeviceptr from, to;
  unsigned long long count, number;
  int type;
  CUresult operator()() const {
    if (!known(comm)) return CUDA_SUCCESS;  // aborted
    Slot* slots = comm->shared->slots;
    Slot& own = slots[comm->rank];
    const size_t bytes = count * (type == 8 ? 8 : 4);
    if (comm->state > SUCCESS && comm->state != IN_PROGRESS) return CUDA_ERROR_NOT_READY;  // a kernel that never ends
    for (CUdeviceptr at : {from, to})
      if (holder(at, bytes) == live.end()) return fault(CUDA_ERROR_ILLEGAL_ADDRESS, "ncclAllReduce: memory is freed by now");
    if (own.given < number) {
      for (int r = 0; r < comm->size; ++r)
        if (slots[r].taken + 1 < number) return CUDA_ERROR_NOT_READY;
      if (int status = fails("sum", comm->rank, number)) {
        comm->state = Result(status);
        last = "as the test says";
        return CUDA_ERROR_NOT_READY;
      }
      memcpy(comm->rooms + comm->rank * ROOM, (void*)from, bytes);
      own.count = count;
      own.type = type;
      own.given = number;
    }
    for (int r = 0; r < comm->size; ++r)
      if (slots[r].given < number) return CUDA_ERROR_NOT_READY;
    for (int r = 0; r < comm->size; ++r)
      if (slots[r].count != count || slots[r].type != type)
        return fault(CUDA_ERROR_ILLEGAL_ADDRESS, text("ncclAllReduce %llu: rank %d has %llu elements, rank %d %llu", number, comm->rank,
                                                      count, r, slots[r].count));
    if (type == 8) add(comm, count, (double*)to); else add(comm, count, (float*)to);
    own.taken = number;
    spent += kernel_ms;
    return CUDA_SUCCESS;
  }
};

void begin(Comm comm) {  // complete once all ranks have come
  if (comm->begun) return;
  Slot* slots = comm->shared->slots;
  for (int r = 0; r < comm->size; ++r)
    if (slots[r].device == 0) return;
  for (int r = 0; r < comm->size; ++r)
    if (r != comm->rank && slots[r].device == slots[comm->rank].device) {
      comm->state = refuse(INVALID_USAGE, text("Duplicate GPU detected: rank %d and rank %d both on device %d", comm->rank, r, comm->device));
      return;
    }
  shm_unlink(comm->name.c_str());
  comm->begun = true;
  comm->state = SUCCESS;
}

}  // namespace

extern "C" {

int ncclGetVersion(int* made) { *made = 22703; return SUCCESS; }
const char* ncclGetErrorString(int result) {
  return result == SYSTEM_ERROR ? "unhandled system error (run with NCCL_DEBUG=INFO for details)" : result == 6 ? "remote process exited or there was a network error"
         : result == INVALID_USAGE ? "invalid usage" : result == INVALID_ARGUMENT ? "invalid argument" : result ? "error" : "no error";
}
const char* ncclGetLastError(Comm) { return last.c_str(); }

int ncclGetUniqueId(Id* made) {
  Lock hold(mutex);
  memset(made, 0, sizeof *made);
  snprintf(made->internal, sizeof made->internal, "/boxpresso-nccl-%d-%llx", getpid(), (unsigned long long)(size_t)made ^ (unsigned long long)clock());
  const int file = shm_open(made->internal, O_CREAT | O_EXCL | O_RDWR, 0600);
  if (file < 0 || ftruncate(file, 4096 + RANKS * ROOM)) return refuse(SYSTEM_ERROR, "ncclGetUniqueId: no shared memory");
  close(file);
  made->internal[127] = 7;  // all 128 bytes are of it
  return SUCCESS;
}

int ncclCommInitRankConfig(Comm* made, int size, Id id, int rank, Config* config) {
  Lock hold(mutex);
  if (need_context()) return refuse(INVALID_USAGE, "ncclCommInitRankConfig: no context is current");
  if (need_no_captures("ncclCommInitRankConfig")) return refuse(INVALID_USAGE, complaint);
  if (size < 1 || size > RANKS || rank < 0 || rank >= size) return refuse(INVALID_ARGUMENT, text("ncclCommInitRankConfig: rank %d of %d", rank, size));
  if (config->magic != 0xcafebeef || config->version < 21400 || config->size < sizeof(Config) || config->blocking != 0)
    return refuse(INVALID_ARGUMENT, "ncclCommInitRankConfig: the config is not initialised, or blocks");
  if (int status = fails("begin", rank, 0)) {
    last = "as the test says";
    return status;
  }
  if (id.internal[127] != 7) return refuse(INVALID_ARGUMENT, "ncclCommInitRankConfig: not a whole unique id");
  const int file = shm_open(id.internal, O_RDWR, 0600);
  void* at = file < 0 ? MAP_FAILED : mmap(nullptr, 4096 + RANKS * ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) close(file);
  if (at == MAP_FAILED) return refuse(SYSTEM_ERROR, "ncclCommInitRankConfig: no rank has that id");
  *made = new ncclComm{rank, size, device(), id.internal, (Shared*)at, (char*)at + 4096};
  (*made)->shared->slots[rank].device = device() + 1;
  comms.push_back(*made);
  ++counts[HANDLES];
  return IN_PROGRESS;
}

int ncclCommGetAsyncError(Comm comm, int* made) {
  Lock hold(mutex);
  if (!known(comm)) return refuse(INVALID_ARGUMENT, "ncclCommGetAsyncError: the communicator is aborted, or was never made");
  begin(comm);
  if (comm->begun && comm->state == IN_PROGRESS && ++comm->asked > 2) {
    for (auto& work : comm->waiting) work();
    comm->waiting.clear();
    comm->state = SUCCESS;
  }
  *made = comm->state;
  return SUCCESS;
}

int ncclCommAbort(Comm comm) {
  Lock hold(mutex);
  if (!known(comm)) return refuse(INVALID_ARGUMENT, "ncclCommAbort: the communicator is aborted already, or was never made");
  comms.erase(std::find(comms.begin(), comms.end(), comm));  // its work in a stream ends, and does nothing
  --counts[HANDLES];
  shm_unlink(comm->name.c_str());
  munmap((char*)comm->shared, 4096 + RANKS * ROOM);
  return SUCCESS;
}

int ncclGroupStart() { ++depth; return SUCCESS; }

int ncclGroupEnd() {
  Lock hold(mutex);
  if (depth == 0) return refuse(INVALID_USAGE, "ncclGroupEnd without a ncclGroupStart");
  if (--depth) return SUCCESS;
  const Result seen = in_group;
  Comm comm = of_group;
  if (comm && !seen) {
    for (auto& ask : grouped) ask(comm);
    comm->state = IN_PROGRESS;
    comm->asked = 0;
  }
  grouped.clear();
  of_group = nullptr;
  in_group = SUCCESS;
  return seen ? seen : comm ? IN_PROGRESS : SUCCESS;
}

int ncclAllReduce(const void* from, void* to, size_t count, int type, int op, Comm comm, CUstream stream) {
  Lock hold(mutex);
  auto wrong = [&](Result result, const std::string& what) { return in_group = refuse(result, "ncclAllReduce: " + what); };
  if (!known(comm)) return wrong(INVALID_ARGUMENT, "the communicator is aborted, or was never made");
  if (depth == 0) return wrong(INVALID_USAGE, "outside a group, which nothing of ours does");
  if (!comm->begun || comm->state != SUCCESS) return wrong(INVALID_USAGE, "the communicator is not ready for another call");
  if (need_context() || device() != comm->device) return wrong(INVALID_USAGE, "the context is not that of the communicator's device");
  if ((type != 7 && type != 8) || op != 0) return wrong(INVALID_ARGUMENT, text("type %d, operation %d", type, op));
  const size_t bytes = count * (type == 8 ? 8 : 4);
  if (bytes > ROOM) return wrong(INVALID_ARGUMENT, "more than the stand-in has room for");
  if (CUdeviceptr(from) % (type == 8 ? 8 : 4) || CUdeviceptr(to) % (type == 8 ? 8 : 4)) return wrong(INVALID_ARGUMENT, "misaligned");
  for (CUdeviceptr at : {CUdeviceptr(from), CUdeviceptr(to)})
    if (need_memory("ncclAllReduce", at, bytes)) return wrong(INVALID_ARGUMENT, complaint);
  if (need_stream("ncclAllReduce", stream)) return wrong(INVALID_ARGUMENT, complaint);
  if (stream == nullptr) return wrong(INVALID_USAGE, "in the null stream");
  ++counts[SUMS];
  of_group = comm;
  const Sum sum{comm, CUdeviceptr(from), CUdeviceptr(to), count, ++comm->number, type};
  grouped.push_back([=](Comm whose) { whose->waiting.push_back([=] { later(stream_of(stream), sum); }); });
  return SUCCESS;
}
}
