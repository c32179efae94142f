#define _GNU_SOURCE 1

#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

int64_t linux_birth_time(int descriptor) {
  struct statx result;
  if (statx(descriptor, "", AT_EMPTY_PATH, STATX_BTIME, &result) != 0) return 0;
  if ((result.stx_mask & STATX_BTIME) == 0) return 0;
  return result.stx_btime.tv_sec * INT64_C(1000000000) + result.stx_btime.tv_nsec;
}

int linux_rename_no_replace(int old_directory, const char *old_name, int directory, const char *name) {
  return renameat2(old_directory, old_name, directory, name, RENAME_NOREPLACE);
}

int linux_openat(int directory, const char *name, int flags, unsigned mode) {
  return openat(directory, name, flags, mode);
}

void linux_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

int linux_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int linux_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }
