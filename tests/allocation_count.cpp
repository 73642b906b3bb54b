#include "allocation_count.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::size_t> count{0}, held{0}, most_held{0}, held_at_begin{0};

void* counted(std::size_t size, std::size_t alignment) {
  ++count;
  void* const memory =
      std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (!memory) throw std::bad_alloc();
  const std::size_t bytes = malloc_usable_size(memory), now = held += bytes;
  for (std::size_t most = most_held; now > most && !most_held.compare_exchange_weak(most, now);) {
  }
  return memory;
}

void release(void* memory) {
  held -= malloc_usable_size(memory);
  std::free(memory);
}
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  return counted(size, alignof(std::max_align_t));
}
// std::stable_sort asks for its buffer like this.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return counted(size, alignof(std::max_align_t));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { release(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { release(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}

namespace edict {

std::size_t allocations() { return count; }

void begin_peak() { most_held = held_at_begin = held.load(); }
std::size_t peak_bytes() { return most_held - held_at_begin; }

}  // namespace edict
