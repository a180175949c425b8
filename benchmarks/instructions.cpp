// instructions.cpp: a plugin of qemu that counts the instructions of an aarch64 program, and how many of them multiply and add floats,
// and writes both to standard error when it ends. Exact for one thread. Built by instructions.py.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

// What is used of qemu's plugin interface, version 1 (its include/qemu/qemu-plugin.h describes it).
#define EXPORT extern "C" __attribute__((visibility("default")))
struct qemu_plugin_tb;
struct qemu_plugin_insn;
extern "C" {
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t, void (*)(uint64_t, qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_inline(qemu_plugin_tb*, int, void*, uint64_t);
void qemu_plugin_register_atexit_cb(uint64_t, void (*)(uint64_t, void*), void*);
size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb*);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb*, size_t);
const void* qemu_plugin_insn_data(const qemu_plugin_insn*);
}
EXPORT int qemu_plugin_version = 1;

static uint64_t all, products;

// FMLA of vectors of floats, by a vector and by an element (ARM ARM, C7.2).
static bool multiplies(uint32_t word) { return (word & 0xbfa0fc00) == 0x0e20cc00 || (word & 0xbf80f400) == 0x0f801000; }

static void translated(uint64_t, qemu_plugin_tb* block) {
  const size_t count = qemu_plugin_tb_n_insns(block);
  size_t of_block = 0;
  for (size_t i = 0; i < count; ++i) {
    uint32_t word;
    std::memcpy(&word, qemu_plugin_insn_data(qemu_plugin_tb_get_insn(block, i)), 4);
    of_block += multiplies(word);
  }
  qemu_plugin_register_vcpu_tb_exec_inline(block, 0, &all, count);
  if (of_block) qemu_plugin_register_vcpu_tb_exec_inline(block, 0, &products, of_block);
}

static void ended(uint64_t, void*) {
  std::fprintf(stderr, "instructions %llu %llu\n", (unsigned long long)all, (unsigned long long)products);
}

EXPORT int qemu_plugin_install(uint64_t id, const void*, int, char**) {
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, ended, nullptr);
  return 0;
}
