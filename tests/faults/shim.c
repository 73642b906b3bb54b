/* Preloaded into a program, this disturbs it. EDICT_FAULT=KIND:N lets the N-th call of a kind fail:

     open       no descriptor is left                close      the disk fails while closing
     read       the disk fails                       ftruncate  the disk fails
     write      the disk is full, half was taken     mkdir      the disk is full
     fsync      the disk fails                       mmap       there is no memory for it
     rename     the disk fails                       malloc     there is no memory for it
     short      a write takes half and says so       eintr      a signal came while reading, writing
     full       the disk is full from then on        memory     there is no memory from then on

   Calls on anything but files and folders are not counted, nor is what happens before main. The
   file that EDICT_FAULT_LOG names exists when it has happened. Nothing is synced for real: what a
   loss of power does is journal.c's. EDICT_COUNTS names a file into which a run writes how many
   calls of every kind it made.

   EDICT_STACKS=FILE lists the numbers of those allocations that come from a place, told by its
   eight innermost callers, where none came from before: letting these fail is letting every place
   fail once. A hash of the callers stands beside each, the same in every run without address
   randomisation (setarch -R). With EDICT_PARSED set, allocations are counted from the first file
   on that is opened or read: what comes before is the command line, which all commands read alike.

   While the file that EDICT_FULL names exists, the disk is full: no write to a file succeeds. The
   wall clock is off by the seconds that stand in the file that EDICT_CLOCK names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum kind {
  kOpen,
  kRead,
  kWrite,
  kFsync,
  kRename,
  kClose,
  kFtruncate,
  kMkdir,
  kMmap,
  kMalloc,
  kShort,
  kEintr,
  kFull,
  kMemory,
  kKinds
};
static const char* const names[kKinds] = {"open",  "read",      "write", "fsync", "rename",
                                          "close", "ftruncate", "mkdir", "mmap",  "malloc",
                                          "short", "eintr",     "full",  "memory"};
static atomic_long calls[kKinds]; /* so far */
static int wanted = kKinds;       /* what fails, and at which of its calls */
static long number;

/* What libraries do before main, or the loader, is not the program's. */
static atomic_int in_main;
static int (*real_main)(int, char**, char**);

static int stacks = -1;            /* the file of EDICT_STACKS */
static atomic_int allocations = 1; /* are counted */

static void look(void) {
  const char* text = getenv("EDICT_FAULT");
  const char* colon = text ? strchr(text, ':') : NULL;
  for (int kind = 0; colon && kind < kKinds; ++kind)
    if (strlen(names[kind]) == (size_t)(colon - text) &&
        strncmp(text, names[kind], (size_t)(colon - text)) == 0) {
      wanted = kind;
      number = atol(colon + 1);
    }
  atomic_store(&allocations, getenv("EDICT_PARSED") == NULL);
  const char* list = getenv("EDICT_STACKS");
  if (list) {
    void* first;
    backtrace(&first, 1); /* the first call allocates */
    stacks = (int)syscall(SYS_openat, AT_FDCWD, list, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  }
}

static int noted_main(int count, char** arguments, char** environment) {
  look();
  atomic_store(&in_main, 1);
  const int code = real_main(count, arguments, environment);
  atomic_store(&in_main, 0);
  const char* list = getenv("EDICT_COUNTS");
  const long file = list ? syscall(SYS_openat, AT_FDCWD, list, O_WRONLY | O_CREAT, 0666) : -1;
  for (int kind = 0; file >= 0 && kind < kKinds; ++kind)
    dprintf((int)file, "%s %ld\n", names[kind], atomic_load(&calls[kind]));
  return code;
}

int __libc_start_main(int (*main)(int, char**, char**), int count, char** arguments,
                      void (*init)(void), void (*fini)(void), void (*loader)(void), void* stack) {
  int (*next)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void),
              void (*)(void), void*);
  *(void**)&next = dlsym(RTLD_NEXT, "__libc_start_main");
  real_main = main;
  return next(noted_main, count, arguments, init, fini, loader, stack);
}

/* Whether this call is the one. */
static int due(enum kind kind) {
  if (!atomic_load(&in_main)) return 0;
  const long own = atomic_fetch_add(&calls[kind], 1) + 1;
  if ((int)kind != wanted || own < number) return 0;
  if (own > number) return kind == kFull || kind == kMemory;
  const char* log = getenv("EDICT_FAULT_LOG");
  if (log) {
    const long file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT, 0666);
    if (file >= 0) syscall(SYS_close, file);
  }
  return 1;
}

static int fail(int error) {
  errno = error;
  return -1;
}

static int is_file(int descriptor) {
  struct stat status;
  return descriptor > 2 && fstat(descriptor, &status) == 0 &&
         (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

static int full(void) {
  const char* path = getenv("EDICT_FULL");
  struct stat status;
  return path && stat(path, &status) == 0;
}

/* Whether this is a run with faults and not one of EDICT_FULL, whose disk is a real one. */
static int disturbing(void) { return wanted != kKinds; }

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t at) {
  if (is_file(descriptor) && (full() || due(kWrite) || due(kFull))) return fail(ENOSPC);
  return syscall(SYS_pwrite64, descriptor, bytes, size, at);
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t at) {
  return pwrite(descriptor, bytes, size, at);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  const long result = syscall(SYS_clock_gettime, clock, now);
  const char* path = getenv("EDICT_CLOCK");
  if (result != 0 || clock != CLOCK_REALTIME || !path) return (int)result;
  char text[32] = "";
  const long file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
  if (file >= 0) {
    syscall(SYS_read, file, text, sizeof text - 1);
    syscall(SYS_close, file);
  }
  now->tv_sec += atol(text);
  return 0;
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  if (is_file(descriptor)) {
    if (full() || due(kFull)) return fail(ENOSPC);
    if (due(kEintr)) return fail(EINTR);
    if (due(kShort) && size > 1) size /= 2;
    if (due(kWrite)) { /* a full disk takes what still fits */
      if (size > 1 && syscall(SYS_write, descriptor, bytes, size / 2) < 0) return -1;
      return fail(ENOSPC);
    }
  }
  return syscall(SYS_write, descriptor, bytes, size);
}

ssize_t read(int descriptor, void* bytes, size_t size) {
  if (is_file(descriptor)) {
    if (atomic_load(&in_main)) atomic_store(&allocations, 1);
    if (due(kEintr)) return fail(EINTR);
    if (due(kRead)) return fail(EIO);
  }
  return syscall(SYS_read, descriptor, bytes, size);
}

ssize_t pread(int descriptor, void* bytes, size_t size, off_t at) {
  if (is_file(descriptor) && due(kRead)) return fail(EIO);
  return syscall(SYS_pread64, descriptor, bytes, size, at);
}

ssize_t pread64(int descriptor, void* bytes, size_t size, off64_t at) {
  return pread(descriptor, bytes, size, at);
}

int fsync(int descriptor) {
  if (due(kFsync)) return fail(EIO);
  return disturbing() ? 0 : (int)syscall(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
  if (due(kFsync)) return fail(EIO);
  return disturbing() ? 0 : (int)syscall(SYS_fdatasync, descriptor);
}

int ftruncate(int descriptor, off_t size) {
  if (due(kFtruncate)) return fail(EIO);
  return (int)syscall(SYS_ftruncate, descriptor, size);
}

int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

int close(int descriptor) {
  const int failing = is_file(descriptor) && due(kClose);
  const int result = (int)syscall(SYS_close, descriptor);
  return failing ? fail(EIO) : result;
}

int rename(const char* from, const char* to) {
  if (due(kRename)) return fail(EIO);
  return (int)syscall(SYS_rename, from, to);
}

int mkdir(const char* path, mode_t mode) {
  if (due(kMkdir) || due(kFull)) return fail(ENOSPC);
  return (int)syscall(SYS_mkdir, path, mode);
}

static int open_or_fail(const char* path, int flags, mode_t mode) {
  if (strncmp(path, "/dev/", 5) != 0) {
    if (due(kOpen)) return fail(EMFILE);
    if (atomic_load(&in_main)) atomic_store(&allocations, 1);
  }
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_or_fail(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_or_fail(path, flags, mode);
}

void* mmap(void* at, size_t length, int protection, int flags, int file, off_t offset) {
  if (due(kMmap)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return (void*)syscall(SYS_mmap, at, length, protection, flags, file, offset);
}

/* Writes down the number of this allocation if its stack is new. */
static void note_stack(void) {
  enum { kFrames = 9, kStacks = 1 << 18 };
  static atomic_long made;
  static _Atomic uint64_t seen[kStacks]; /* hashes, found by themselves */
  static _Thread_local int inside;
  if (stacks < 0 || inside) return;
  inside = 1;
  const long own = atomic_fetch_add(&made, 1) + 1;
  void* frames[kFrames];
  const int count = backtrace(frames, kFrames);
  uint64_t hash = 14695981039346656037u;
  for (int i = 0; i < count; ++i) hash = (hash ^ (uint64_t)(uintptr_t)frames[i]) * 1099511628211u;
  hash = hash ? hash : 1;
  for (uint64_t at = hash >> 20;; ++at) {
    uint64_t empty = 0;
    if (atomic_compare_exchange_strong(&seen[at % kStacks], &empty, hash)) {
      char text[48];
      const int size = snprintf(text, sizeof text, "%ld %" PRIx64 "\n", own, hash);
      syscall(SYS_write, stacks, text, (size_t)size);
      break;
    }
    if (empty == hash) break;
  }
  inside = 0;
}

/* Whether this allocation fails. */
static int starved(void) {
  if (!atomic_load(&in_main) || !atomic_load(&allocations)) return 0;
  note_stack();
  const int once = due(kMalloc), always = due(kMemory);
  if (!once && !always) return 0;
  errno = ENOMEM;
  return 1;
}

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* memory, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) { return starved() ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return starved() ? NULL : __libc_calloc(count, size); }
void* realloc(void* memory, size_t size) {
  return size > 0 && starved() ? NULL : __libc_realloc(memory, size);
}
void* memalign(size_t alignment, size_t size) {
  return starved() ? NULL : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** memory, size_t alignment, size_t size) {
  void* const made = memalign(alignment, size);
  if (made) *memory = made;
  return made ? 0 : ENOMEM;
}
