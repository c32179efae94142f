// Linux calls that Swift's Glibc module does not show. No system header is included here: their declarations would
// meet other modules' with other feature macros.
#pragma once

#include <stdint.h>

/// statx(2) of an open descriptor: nanoseconds of birth since 1970, or 0 where the file system does not keep it.
int64_t linux_birth_time(int descriptor);

/// renameat2(2) with RENAME_NOREPLACE: -1 and EEXIST where the new name is taken.
int linux_rename_no_replace(int old_directory, const char *old_name, int directory, const char *name);

/// openat(2) without the variadic mode.
int linux_openat(int directory, const char *name, int flags, unsigned mode);

/// pthread_setname_np(3) of the calling thread; at most 15 characters.
void linux_name_thread(const char *name);

/// prctl(2) PR_SET_DUMPABLE 0: no core dumps, no ptrace by others, /proc/self owned by root.
int linux_forbid_dumps(void);

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
