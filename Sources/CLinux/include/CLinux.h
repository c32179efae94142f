// Linux calls that Swift's Glibc module does not show. No system header is included here: their declarations would
// meet other modules' with other feature macros.
#pragma once

#include <stdint.h>

/// Which file: device and inode as in stat(2), and nanoseconds of birth since 1970, 0 where the file system keeps none.
struct linux_identity {
  uint64_t device;
  uint64_t inode;
  int64_t birth;
};

/// statx(2) of an open descriptor; -1 and errno where it fails.
int linux_identify(int descriptor, struct linux_identity *identity);

/// renameat2(2) with RENAME_NOREPLACE: -1 and EEXIST where the new name is taken.
int linux_rename_no_replace(int old_directory, const char *old_name, int directory, const char *name);

/// openat(2) without the variadic mode.
int linux_openat(int directory, const char *name, int flags, unsigned mode);

/// openat2(2) with RESOLVE_NO_MAGICLINKS: a path that leads through a link of /proc, such as /proc/self/fd/3, fails with
/// ELOOP. -1 and ENOSYS where the kernel, or a system call filter, does not know the call.
int linux_open_without_magic_links(int directory, const char *path, int flags);

/// O_PATH: a descriptor that only names a file or a directory (open(2)).
extern const int linux_path_only;

/// pthread_setname_np(3) of the calling thread; at most 15 characters.
void linux_name_thread(const char *name);

/// prctl(2) PR_SET_DUMPABLE 0: no core dumps, no ptrace by others, /proc/self owned by root.
int linux_forbid_dumps(void);

/// Gives memory that was freed, but kept for later, back to the system (malloc_trim(3)), and takes the program's own code
/// out of its resident set (madvise(2) MADV_DONTNEED of what can be read from the file again). What is needed comes
/// back by itself, from the page cache.
void linux_return_memory(void);
/// memfd_create(2), closed at exec: a file that is in memory only; -1 and errno where it fails.
int linux_memory_file(const char *name);

/// An rtnetlink(7) socket, close-on-exec and non-blocking; -1 and errno.
int linux_netlink_open(void);

/// Joins, or leaves, the groups that tell of links, addresses, routes and rules.
int linux_netlink_watch(int descriptor, int is_watching);

/// Asks for one link by its index. The answer carries the sequence number.
int linux_netlink_ask_link(int descriptor, int index, uint32_t sequence);

/// Asks which way the kernel would send to this address, of 4 or 16 bytes.
int linux_netlink_ask_route(int descriptor, const void *address, uint32_t size, uint32_t sequence);

/// The next datagram that the kernel sent; waits up to so many milliseconds. -1 and errno: EAGAIN where there is none,
/// ETIMEDOUT, ENOBUFS where some were lost.
int64_t linux_netlink_receive(int descriptor, void *buffer, uint64_t size, int milliseconds);

/// timerfd_create(2) on CLOCK_BOOTTIME, closed at exec; -1 and errno.
int linux_timer(void);

/// Lets the timer expire once, when the clock shows so many nanoseconds; at once if it does already.
void linux_timer_set(int timer, uint64_t nanoseconds);

// MARK: Crash marks

/// Bytes of a mark, and of the name of a run within it: hexadecimal digits.
enum { LINUX_CRASH_MARK_SIZE = 64, LINUX_CRASH_RUN_SIZE = 16 };

/// From now on a fatal signal that this process raises itself (SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV) leaves a mark
/// at the start of this file, which stays open, and then does what it did before. One that another process sends, or that a
/// child raises before execve(2), leaves none. -1 and errno where it cannot be arranged.
int linux_crash_mark_arm(int descriptor, const char *run);

/// Writes the mark that such a signal leaves, and syncs it: `transferd crash RUN signal NN`, blanks, a line end.
/// Async-signal-safe; -1 and errno where it fails.
int linux_crash_mark_write(int descriptor, const char *run, int signal);

/// Writes blanks over a mark, and syncs them: the file keeps its room on the disk. -1 and errno where it fails.
int linux_crash_mark_clear(int descriptor);

/// Gives the calling thread an alternate signal stack (sigaltstack(2)), unless it has one, so that the end of its stack leaves a
/// mark, too. It is freed with the thread. -1 and errno where there is no memory.
int linux_prepare_signal_stack(void);
