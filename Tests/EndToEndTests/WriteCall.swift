/// A system call that changes a file, as strace reports it.
struct WriteCall: CustomStringConvertible {
  static let names = "write,pwrite64,pwritev,fsync,fdatasync,ftruncate,rename,renameat,renameat2,unlink,unlinkat"

  /// The call.
  let name: String
  /// The first argument: a file's path, or a descriptor with its path.
  let file: String
  /// The number of this call among those of the same name by the same thread, from 1: strace's `when`.
  let ordinal: Int

  var description: String { "\(name) \(ordinal) of \(file)" }

  /// Reads the log of `strace -f -y`.
  static func parse(_ log: String) -> [WriteCall] {
    var counts: [String: Int] = [:]
    return log.split(separator: "\n").compactMap { line in
      // 123   pwrite64(7</dir/file>, ""..., 4096, 0) = 4096
      guard let match = line.wholeMatch(of: /(\d+) +([a-z0-9]+)\(([^,)]*).*/) else { return nil }
      let name = String(match.2)
      let count = counts["\(match.1) \(name)", default: 0] + 1
      counts["\(match.1) \(name)"] = count
      return WriteCall(name: name, file: String(match.3), ordinal: count)
    }
  }

  /// Where a kill makes a difference: at every call, but of consecutive writes to one file only at the first, at one in the
  /// middle and at the last. A later start finds the same transaction unfinished after each of the others.
  static func killPoints(in calls: [WriteCall]) -> [WriteCall] {
    var points: [WriteCall] = []
    var run = calls[...]
    while let first = run.first {
      let same = run.prefix { $0.name == first.name && $0.file == first.file }
      run = run[same.endIndex...]
      let middle = same[same.startIndex + same.count / 2]
      points += same.count <= 3 ? Array(same) : [first, middle, same[same.endIndex - 1]]
    }
    return points
  }

  /// A library for `LD_PRELOAD` that kills its program before a call: the one with the number `KILL_ORDINAL` of those named
  /// `KILL_CALL` by one thread to one of `KILL_PATHS`. strace can do the same, and stops the program at every call for it:
  /// a start takes four times as long.
  static let killer = #"""
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/syscall.h>
    #include <sys/uio.h>
    #include <unistd.h>

    // The name of the system call, and the paths with colons between them.
    static const char *wanted, *paths;
    static long ordinal;
    // Calls so far, of each thread.
    static __thread long count;

    __attribute__((constructor)) static void begin(void) {
      const char *number = getenv("KILL_ORDINAL");
      wanted = getenv("KILL_CALL");
      paths = getenv("KILL_PATHS");
      ordinal = number ? atol(number) : 0;
    }

    static int names(const char *path) {
      size_t length = strlen(path);
      for (const char *at = paths; at && *at;) {
        const char *end = strchrnul(at, ':');
        if ((size_t)(end - at) == length && !memcmp(at, path, length)) return 1;
        at = *end ? end + 1 : end;
      }
      return 0;
    }

    static int opened(int descriptor) {
      char link[40], path[4096];
      snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
      ssize_t length = readlink(link, path, sizeof path - 1);
      if (length < 0) return 0;
      path[length] = 0;
      return names(path);
    }

    #define NEXT(result, function, declared, used, call, matches)                                        \
      result function declared {                                                                         \
        static result(*next) declared;                                                                   \
        if (!next) next = (result(*) declared)dlsym(RTLD_NEXT, #function);                               \
        if (wanted && !strcmp(wanted, call) && (matches) && ++count == ordinal) kill(getpid(), SIGKILL); \
        return next used;                                                                                \
      }

    #ifdef SYS_unlink
    #define UNLINK "unlink"
    #else
    #define UNLINK "unlinkat"
    #endif
    #ifdef SYS_rename
    #define RENAME "rename"
    #else
    #define RENAME "renameat"
    #endif

    NEXT(ssize_t, write, (int f, const void *b, size_t n), (f, b, n), "write", opened(f))
    NEXT(ssize_t, pwrite, (int f, const void *b, size_t n, off_t o), (f, b, n, o), "pwrite64", opened(f))
    NEXT(ssize_t, pwrite64, (int f, const void *b, size_t n, off64_t o), (f, b, n, o), "pwrite64", opened(f))
    NEXT(ssize_t, pwritev, (int f, const struct iovec *v, int n, off_t o), (f, v, n, o), "pwritev", opened(f))
    NEXT(int, fsync, (int f), (f), "fsync", opened(f))
    NEXT(int, fdatasync, (int f), (f), "fdatasync", opened(f))
    NEXT(int, ftruncate, (int f, off_t n), (f, n), "ftruncate", opened(f))
    NEXT(int, ftruncate64, (int f, off64_t n), (f, n), "ftruncate", opened(f))
    NEXT(int, rename, (const char *a, const char *b), (a, b), RENAME, names(a) || names(b))
    NEXT(int, renameat, (int d, const char *a, int e, const char *b), (d, a, e, b), "renameat",
         opened(d) || names(a) || opened(e) || names(b))
    NEXT(int, renameat2, (int d, const char *a, int e, const char *b, unsigned f), (d, a, e, b, f), "renameat2",
         opened(d) || names(a) || opened(e) || names(b))
    NEXT(int, unlink, (const char *a), (a), UNLINK, names(a))
    NEXT(int, unlinkat, (int d, const char *a, int f), (d, a, f), "unlinkat", opened(d) || names(a))
    """#
}
