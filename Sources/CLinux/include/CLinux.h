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
