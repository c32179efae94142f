#define _GNU_SOURCE 1

#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

int linux_identify(int descriptor, struct linux_identity *identity) {
  struct statx result;
  if (statx(descriptor, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &result) != 0) return -1;
  identity->device = makedev(result.stx_dev_major, result.stx_dev_minor);
  identity->inode = result.stx_ino;
  identity->birth = (result.stx_mask & STATX_BTIME) == 0
                        ? 0
                        : result.stx_btime.tv_sec * INT64_C(1000000000) + result.stx_btime.tv_nsec;
  return 0;
}

int linux_rename_no_replace(int old_directory, const char *old_name, int directory, const char *name) {
  return renameat2(old_directory, old_name, directory, name, RENAME_NOREPLACE);
}

int linux_socket_pair(int ends[2]) {
  return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
}

const int linux_stream_socket = SOCK_STREAM;

int linux_openat(int directory, const char *name, int flags, unsigned mode) {
  return openat(directory, name, flags, mode);
}

int linux_sync_file_system(int descriptor) { return syncfs(descriptor); }

int linux_reserve_space(int descriptor, int64_t size) { return fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, size); }

int linux_set_attribute(int descriptor, const char *name, const char *value, uint64_t size) {
  return fsetxattr(descriptor, name, value, (size_t)size, 0);
}

int64_t linux_list_attributes(int descriptor, char *names, uint64_t size) {
  return flistxattr(descriptor, names, (size_t)size);
}

int64_t linux_get_attribute(int descriptor, const char *name, char *value, uint64_t size) {
  return fgetxattr(descriptor, name, value, (size_t)size);
}

int linux_is_open_for_writing(int descriptor) {
  // A program that opens the file in this moment breaks the lease, and SIGIO would end the process.
  signal(SIGIO, SIG_IGN);
  if (fcntl(descriptor, F_SETLEASE, F_RDLCK) == 0) {
    fcntl(descriptor, F_SETLEASE, F_UNLCK);
    return 0;
  }
  return errno == EAGAIN ? 1 : -1;
}

int64_t linux_file_system_type(int descriptor) {
  struct statfs status;
  return fstatfs(descriptor, &status) == 0 ? (int64_t)status.f_type : -1;
}

int linux_open_without_magic_links(int directory, const char *path, int flags) {
  struct open_how how = {.flags = (uint64_t)flags, .resolve = RESOLVE_NO_MAGICLINKS};
  int descriptor = (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
  // openat2(2) itself fails with EPERM only for O_NOATIME and sealed files; otherwise a system call filter blocked it.
  if (descriptor < 0 && errno == EPERM) errno = ENOSYS;
  return descriptor;
}

const long linux_keep_time = UTIME_OMIT;
const int linux_path_only = O_PATH;

void linux_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

int linux_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

static int drop_read_only_pages(struct dl_phdr_info *object, size_t size, void *context) {
  (void)size;
  const uintptr_t page = *(const uintptr_t *)context;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    // Writable pages have contents that the file does not have.
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) != 0) continue;
    uintptr_t start = (object->dlpi_addr + segment->p_vaddr + page - 1) & ~(page - 1);
    uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_memsz) & ~(page - 1);
    if (end > start) madvise((void *)start, end - start, MADV_DONTNEED);
  }
  return 0;
}

void linux_return_memory(void) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  malloc_trim(0);
  dl_iterate_phdr(drop_read_only_pages, &page);
}

int linux_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

int linux_clock_watch_again(int timer) {
  // Never expires: only a change of the clock ends a read.
  struct itimerspec never = {.it_value = {.tv_sec = (time_t)1 << 40}};
  return timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
}

int linux_clock_watch(void) {
  int timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);
  if (timer < 0 || linux_clock_watch_again(timer) == 0) return timer;
  int code = errno;
  close(timer);
  errno = code;
  return -1;
}

int linux_timer(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC); }

void linux_timer_set(int timer, uint64_t nanoseconds) {
  struct itimerspec time = {
      .it_value = {.tv_sec = (time_t)(nanoseconds / 1000000000), .tv_nsec = (long)(nanoseconds % 1000000000)}};
  // A value of 0 would disarm the timer.
  if (nanoseconds == 0) time.it_value.tv_nsec = 1;
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &time, NULL);
}
