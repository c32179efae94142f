import Glibc

/// A write to standard output failed: it is closed, its disk is full, or its reader has exited.
struct OutputError: Error, CustomStringConvertible {
  let code: Int32
  var description: String { "cannot write to standard output: \(String(cString: strerror(code)))" }
}
