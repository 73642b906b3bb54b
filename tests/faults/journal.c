/* Preloaded into a program, this writes down what it does to the files of the folder it was started
   in, in order, with the bytes: what a loss of power may leave of it can be told from that
   (power_cut.h). EDICT_JOURNAL names the file. An entry is

     KIND DESCRIPTOR OFFSET SIZE\n     and SIZE bytes

   o, t, p  a file or folder was opened; and is empty; and has no name yet (O_TMPFILE). Bytes: path
   w        bytes were written at an offset
   f        a file was cut to OFFSET bytes
   s        a file or folder was synced, which takes effect at once here and is not done for real
   c        a descriptor was closed
   r        renamed. Bytes: both paths, with a zero between
   u, d     a file was removed, a folder made. Bytes: path

   Paths are relative to the folder; what lies elsewhere is left out. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kPath = 4096, kFiles = 1024, kJournal = 1000 };

/* What is done and what is written down about it are one step. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static int journal = -1;
static char folder[kPath];
static char known[kFiles]; /* descriptors of files inside */

__attribute__((constructor)) static void begin(void) {
  const char* name = getenv("EDICT_JOURNAL");
  if (!name || !getcwd(folder, sizeof folder)) return;
  const long file = syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND, 0666);
  journal = (int)syscall(SYS_dup3, file, kJournal, O_CLOEXEC);
  syscall(SYS_close, file);
}

static void put(const void* bytes, size_t size) {
  for (const char* at = bytes; size > 0;) {
    const long written = syscall(SYS_write, journal, at, size);
    if (written <= 0) abort();
    at += written;
    size -= (size_t)written;
  }
}

static void note(char kind, int descriptor, long offset, const void* bytes, size_t size) {
  char head[96];
  put(head, (size_t)snprintf(head, sizeof head, "%c %d %ld %zu\n", kind, descriptor, offset, size));
  put(bytes, size);
}

/* The path inside of the folder; NULL for any other. */
static const char* inside(const char* path) {
  const size_t length = strlen(folder);
  if (journal < 0) return NULL;
  if (strncmp(path, folder, length) == 0) {
    if (path[length] == 0) return ".";
    if (path[length] == '/') path += length + 1;
  }
  while (strncmp(path, "./", 2) == 0) path += 2;
  return path[0] == '/' ? NULL : path;
}

static int is_known(int descriptor) {
  return descriptor >= 0 && descriptor < kFiles && known[descriptor];
}

static int noted_open(const char* path, int flags, mode_t mode) {
  const char* const name = inside(path);
  pthread_mutex_lock(&one_at_a_time);
  const int file = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  const int error = errno;
  if (file >= 0 && file < kFiles) {
    known[file] = name != NULL;
    const int nameless = (flags & O_TMPFILE) == O_TMPFILE;
    if (name) note(nameless ? 'p' : (flags & O_TRUNC) ? 't' : 'o', file, 0, name, strlen(name));
  }
  pthread_mutex_unlock(&one_at_a_time);
  errno = error;
  return file;
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0;
  va_end(more);
  return noted_open(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0;
  va_end(more);
  return noted_open(path, flags, mode);
}

static ssize_t noted_write(int file, const void* bytes, size_t size, long at) {
  pthread_mutex_lock(&one_at_a_time);
  const long from = at >= 0 ? at : lseek(file, 0, SEEK_CUR);
  const long written = at >= 0 ? syscall(SYS_pwrite64, file, bytes, size, at)
                               : syscall(SYS_write, file, bytes, size);
  if (written > 0 && is_known(file)) note('w', file, from, bytes, (size_t)written);
  pthread_mutex_unlock(&one_at_a_time);
  return written;
}

ssize_t write(int file, const void* bytes, size_t size) {
  return is_known(file) ? noted_write(file, bytes, size, -1)
                        : syscall(SYS_write, file, bytes, size);
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
  return noted_write(file, bytes, size, at);
}

ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t at) {
  return noted_write(file, bytes, size, at);
}

/* What returns 0 when it is done: does it and writes it down. */
static int noted(long result, char kind, int file, long offset, const void* bytes, size_t size) {
  const int error = errno;
  if (result == 0 && journal >= 0) note(kind, file, offset, bytes, size);
  pthread_mutex_unlock(&one_at_a_time);
  errno = error;
  return (int)result;
}

int ftruncate(int file, off_t size) {
  pthread_mutex_lock(&one_at_a_time);
  return noted(syscall(SYS_ftruncate, file, size), 'f', file, size, "", 0);
}

int ftruncate64(int file, off64_t size) { return ftruncate(file, size); }

int fsync(int file) {
  pthread_mutex_lock(&one_at_a_time);
  return noted(0, 's', file, 0, "", 0);
}

int fdatasync(int file) { return fsync(file); }

int close(int file) {
  if (!is_known(file)) return (int)syscall(SYS_close, file);
  pthread_mutex_lock(&one_at_a_time);
  known[file] = 0;
  return noted(syscall(SYS_close, file), 'c', file, 0, "", 0);
}

int rename(const char* from, const char* to) {
  const char *const a = inside(from), *const b = inside(to);
  if (!a || !b) return (int)syscall(SYS_rename, from, to);
  char both[2 * kPath];
  const int size = snprintf(both, sizeof both, "%s%c%s", a, 0, b);
  pthread_mutex_lock(&one_at_a_time);
  return noted(syscall(SYS_rename, from, to), 'r', -1, 0, both, (size_t)size);
}

int unlink(const char* path) {
  const char* const name = inside(path);
  if (!name) return (int)syscall(SYS_unlink, path);
  pthread_mutex_lock(&one_at_a_time);
  return noted(syscall(SYS_unlink, path), 'u', -1, 0, name, strlen(name));
}

/* Of files: no program removes a folder of its results. */
int remove(const char* path) { return unlink(path); }

int mkdir(const char* path, mode_t mode) {
  const char* const name = inside(path);
  if (!name) return (int)syscall(SYS_mkdir, path, mode);
  pthread_mutex_lock(&one_at_a_time);
  return noted(syscall(SYS_mkdir, path, mode), 'd', -1, 0, name, strlen(name));
}
