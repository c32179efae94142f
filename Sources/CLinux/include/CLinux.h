// Linux calls that Swift's Glibc module does not export. This header includes no system header except <stdint.h>: the
// same declarations, built with other feature macros, would conflict with those of other modules.
#pragma once

#include <stdint.h>

/// Identifies a file: device and inode as in stat(2), and the creation time in nanoseconds since 1970, or 0 if the file
/// system does not record it.
struct linux_identity {
  uint64_t device;
  uint64_t inode;
  int64_t birth;
};

/// statx(2) of an open descriptor. Returns -1 and sets errno on failure.
int linux_identify(int descriptor, struct linux_identity *identity);

/// renameat2(2) with RENAME_NOREPLACE. Returns -1 with EEXIST if the new name exists.
int linux_rename_no_replace(int old_directory, const char *old_name, int directory, const char *name);

/// openat(2) without the variadic mode.
int linux_openat(int directory, const char *name, int flags, unsigned mode);

/// syncfs(2): syncs the file system of an open descriptor. Returns -1 and sets errno on failure.
int linux_sync_file_system(int descriptor);

/// fallocate(2) with FALLOC_FL_KEEP_SIZE: reserves space for a file without changing its size. Returns -1 and sets errno.
int linux_reserve_space(int descriptor, int64_t size);

/// fsetxattr(2): sets an extended attribute. Returns -1 and sets errno on failure.
int linux_set_attribute(int descriptor, const char *name, const char *value, uint64_t size);

/// flistxattr(2): the names of a file's extended attributes, each with a 0 at its end. Returns the bytes used, or -1 and sets errno.
int64_t linux_list_attributes(int descriptor, char *names, uint64_t size);

/// fgetxattr(2): the value of an extended attribute. Returns its length, or -1 and sets errno on failure.
int64_t linux_get_attribute(int descriptor, const char *name, char *value, uint64_t size);

/// Whether a regular file is open for writing: asks for a read lease (F_SETLEASE of fcntl(2)), which the kernel refuses then,
/// and gives it back. 1: it is; 0: it is not; -1: unknown, because the file belongs to another user or its file system has no
/// leases. The descriptor must be opened with O_RDONLY.
int linux_is_open_for_writing(int descriptor);

/// The type of the file system of an open descriptor (`f_type` of fstatfs(2)); -1 if it is unknown.
int64_t linux_file_system_type(int descriptor);

/// openat2(2) with RESOLVE_NO_MAGICLINKS: a path through a magic link of /proc, such as /proc/self/fd/3, fails with ELOOP.
/// Returns -1 with ENOSYS if the kernel does not have the call or a system call filter blocks it.
int linux_open_without_magic_links(int directory, const char *path, int flags);

/// socketpair(2): two connected stream sockets, close-on-exec. Returns -1 and sets errno on failure.
int linux_socket_pair(int ends[2]);

/// SOCK_STREAM (socket(2)).
extern const int linux_stream_socket;

/// O_PATH: the descriptor only refers to a file or directory and cannot read or write it (open(2)).
extern const int linux_path_only;

/// UTIME_OMIT: futimens(2) leaves the time as it is.
extern const long linux_keep_time;

/// pthread_setname_np(3) for the calling thread; at most 15 characters.
void linux_name_thread(const char *name);

/// prctl(2) PR_SET_DUMPABLE 0: no core dumps, no ptrace by other processes, /proc/self owned by root.
int linux_forbid_dumps(void);

/// Returns freed heap memory to the system (malloc_trim(3)), and drops the program's read-only pages from its resident set
/// (madvise(2) MADV_DONTNEED). The kernel reloads pages that are used again from the page cache.
void linux_return_memory(void);

/// memfd_create(2): a close-on-exec file that exists only in memory. Returns -1 and sets errno on failure.
int linux_memory_file(const char *name);

/// Opens an rtnetlink(7) socket, close-on-exec and non-blocking. Returns -1 and sets errno on failure.
int linux_netlink_open(void);

/// Joins or leaves the multicast groups for links, addresses, routes and rules. Returns -1 and sets errno on failure.
int linux_netlink_watch(int descriptor, int is_watching);

/// Requests one link by its index. The response carries the sequence number.
int linux_netlink_ask_link(int descriptor, int index, uint32_t sequence);

/// Requests the route that the kernel would use for this address of 4 or 16 bytes.
int linux_netlink_ask_route(int descriptor, const void *address, uint32_t size, uint32_t sequence);

/// Receives the next datagram from the kernel and waits for it at most the given time. Returns -1 and sets errno on
/// failure: EAGAIN if there is none and `milliseconds` is 0, ETIMEDOUT if the time is over, ENOBUFS if messages were lost.
int64_t linux_netlink_receive(int descriptor, void *buffer, uint64_t size, int milliseconds);

/// A timer that never expires. read(2) waits until the wall clock is set, and fails then (ECANCELED). Returns -1 and sets errno on
/// failure.
int linux_clock_watch(void);

/// Waits for the next change of the clock. Returns -1 and sets errno on failure.
int linux_clock_watch_again(int timer);

/// timerfd_create(2) on CLOCK_BOOTTIME, close-on-exec. Returns -1 and sets errno on failure.
int linux_timer(void);

/// Sets the timer to expire once, at an absolute time of its clock in nanoseconds. A past time expires at once.
void linux_timer_set(int timer, uint64_t nanoseconds);

// MARK: Readiness

/// What to wait for, and what is ready. `LINUX_EDGES`: be told of each change, without reading. `LINUX_FAILING`: an error or the
/// end of both directions.
enum { LINUX_READING = 1, LINUX_WRITING = 2, LINUX_EDGES = 4, LINUX_FAILING = 8 };

/// The most descriptors that one wait returns.
enum { LINUX_READY_COUNT = 128 };

struct linux_ready {
  int descriptor;
  int state;
};

/// epoll_create1(2), close-on-exec. Returns -1 and sets errno on failure.
int linux_poll_open(void);

/// epoll_ctl(2): begins to wait for a descriptor, or changes what to wait for. Returns -1 and sets errno on failure.
int linux_poll_watch(int poll, int descriptor, int interest, int is_watched);

/// epoll_ctl(2) EPOLL_CTL_DEL. Returns -1 and sets errno on failure.
int linux_poll_forget(int poll, int descriptor);

/// epoll_wait(2): the number of ready descriptors; 0 when the time is over, a negative time waits without end. Returns -1 and
/// sets errno on failure.
int linux_poll_wait(int poll, struct linux_ready ready[LINUX_READY_COUNT], int milliseconds);

/// eventfd(2), close-on-exec. Returns -1 and sets errno on failure.
int linux_wakeup_open(void);

/// Makes the descriptor ready. Async-signal-safe; never waits.
void linux_wakeup_send(int descriptor);

// MARK: Crash marks

/// Size in bytes of a mark, and of the run's identifier in it (hexadecimal digits).
enum { LINUX_CRASH_MARK_SIZE = 64, LINUX_CRASH_RUN_SIZE = 16 };

/// Installs handlers for the fatal signals SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE and SIGSEGV. A signal that this process
/// raises itself writes a mark at the start of the file and then has its previous effect. Signals that other processes
/// send, and signals that a child raises before execve(2), write no mark. The descriptor must stay open. Returns -1 and
/// sets errno on failure.
int linux_crash_mark_arm(int descriptor, const char *run);

/// Writes a mark and syncs it: `transferd crash RUN signal NN`, padded with blanks, with a line feed as last byte.
/// Async-signal-safe. Returns -1 and sets errno on failure.
int linux_crash_mark_write(int descriptor, const char *run, int signal);

/// Overwrites the mark with blanks and syncs them, so the file keeps its space on disk. Returns -1 and sets errno on
/// failure.
int linux_crash_mark_clear(int descriptor);

/// Gives the calling thread an alternate signal stack (sigaltstack(2)) unless it has one, so that a stack overflow leaves a
/// mark too. The stack is freed when the thread ends. Returns -1 and sets errno if there is no memory.
int linux_prepare_signal_stack(void);
