/* Preloaded into a program, this makes one call fail: EDICT_FAULT=write:3 is the third write to a
   file, as if the disk were full. Also fsync, rename, open (of a new file), mmap and malloc. When
   it has happened, the file that EDICT_FAULT_LOG names exists.

   While the file that EDICT_FULL names exists, the disk is full: no write to a file succeeds. The
   wall clock is off by the seconds that stand in the file that EDICT_CLOCK names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
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

static atomic_long left; /* calls until it fails */
static atomic_int looked;
static char wanted[16];

static void look(void) {
  const char *text = getenv("EDICT_FAULT");
  const char *colon = text ? strchr(text, ':') : NULL;
  if (colon && (size_t)(colon - text) < sizeof wanted) {
    memcpy(wanted, text, (size_t)(colon - text));
    atomic_store(&left, atol(colon + 1));
  }
}

/* What libraries do before main, or the loader, is not the program's. */
static atomic_int in_main;
static int (*real_main)(int, char **, char **);

static int noted_main(int count, char **arguments, char **environment) {
  atomic_store(&in_main, 1);
  const int code = real_main(count, arguments, environment);
  atomic_store(&in_main, 0);
  return code;
}

int __libc_start_main(int (*main)(int, char **, char **), int count, char **arguments,
                      void (*init)(void), void (*fini)(void), void (*loader)(void), void *stack) {
  int (*next)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
              void (*)(void), void *);
  *(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
  real_main = main;
  return next(noted_main, count, arguments, init, fini, loader, stack);
}

/* Whether this call is the one. */
static int due(const char *call) {
  if (!atomic_load(&in_main)) return 0;
  if (!atomic_exchange(&looked, 1)) look();
  if (strcmp(call, wanted) != 0 || atomic_fetch_sub(&left, 1) != 1) return 0;
  const char *log = getenv("EDICT_FAULT_LOG");
  if (log) {
    const long file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT, 0666);
    if (file >= 0) syscall(SYS_close, file);
  }
  return 1;
}

static int is_file(int descriptor) {
  struct stat status;
  return descriptor > 2 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

static int full(void) {
  const char *path = getenv("EDICT_FULL");
  struct stat status;
  return path && stat(path, &status) == 0;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t at) {
  if (is_file(descriptor) && full()) {
    errno = ENOSPC;
    return -1;
  }
  return syscall(SYS_pwrite64, descriptor, bytes, size, at);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off64_t at) {
  return pwrite(descriptor, bytes, size, at);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  const long result = syscall(SYS_clock_gettime, clock, now);
  const char *path = getenv("EDICT_CLOCK");
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

ssize_t write(int descriptor, const void *bytes, size_t size) {
  if (is_file(descriptor) && full()) {
    errno = ENOSPC;
    return -1;
  }
  if (is_file(descriptor) && due("write")) {
    /* A full disk takes what still fits. */
    if (size > 1) return syscall(SYS_write, descriptor, bytes, size / 2) < 0 ? -1 : (errno = ENOSPC, -1);
    errno = ENOSPC;
    return -1;
  }
  return syscall(SYS_write, descriptor, bytes, size);
}

int fsync(int descriptor) {
  if (due("fsync")) {
    errno = EIO;
    return -1;
  }
  return (int)syscall(SYS_fsync, descriptor);
}

int rename(const char *from, const char *to) {
  if (due("rename")) {
    errno = EACCES;
    return -1;
  }
  return (int)syscall(SYS_rename, from, to);
}

static int open_or_fail(const char *path, int flags, mode_t mode) {
  if ((flags & O_CREAT) && due("open")) {
    errno = EMFILE;
    return -1;
  }
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_or_fail(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_or_fail(path, flags, mode);
}

void *mmap(void *at, size_t length, int protection, int flags, int file, off_t offset) {
  if (due("mmap")) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return (void *)syscall(SYS_mmap, at, length, protection, flags, file, offset);
}

extern void *__libc_malloc(size_t size);

void *malloc(size_t size) {
  if (due("malloc")) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_malloc(size);
}
