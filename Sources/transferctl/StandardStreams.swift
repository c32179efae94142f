import Glibc

enum StandardStreams {
  /// Opens /dev/null in place of a closed descriptor 0, 1 or 2. Otherwise the next socket would get that number, and
  /// messages would be written into it. A closed standard output stays unwritable, so that the error is noticed.
  static func prepare() {
    for (descriptor, mode) in [
      (STDIN_FILENO, O_RDONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY),
    ]
    where fcntl(descriptor, F_GETFD) == -1 {
      _ = open("/dev/null", mode)
    }
    signal(SIGPIPE, SIG_IGN)
  }
}
