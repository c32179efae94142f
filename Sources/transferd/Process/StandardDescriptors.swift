import Glibc

enum StandardDescriptors {
  /// Opens /dev/null in place of a closed descriptor 0, 1 or 2, as a shell leaves it with `2>&-`. Otherwise a file of the state
  /// directory would get that number, and messages would be written into it.
  static func open() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
      // The lowest number that is free: those below are open by now.
      _ = Glibc.open("/dev/null", O_RDWR)
    }
  }
}
