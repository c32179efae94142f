import Glibc

/// Functions of glibc that its Swift module lacks because they need `_GNU_SOURCE`. They are looked up at run time.
enum GNU {
  private static func find<Function>(_ name: String, as type: Function.Type) -> Function {
    guard let symbol = dlsym(nil, name) else { preconditionFailure("glibc has no \(name)") }
    return unsafeBitCast(symbol, to: type)
  }

  /// accept4(2), with SOCK_CLOEXEC.
  static let accept4 = find(
    "accept4",
    as: (@convention(c) (Int32, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, Int32) -> Int32).self)

  /// pipe2(2)
  static let pipe2 = find(
    "pipe2", as: (@convention(c) (UnsafeMutablePointer<Int32>, Int32) -> Int32).self)

  /// setns(2)
  static let setns = find("setns", as: (@convention(c) (Int32, Int32) -> Int32).self)

  /// unshare(2)
  static let unshare = find("unshare", as: (@convention(c) (Int32) -> Int32).self)

  /// memmem(3)
  static let memmem = find(
    "memmem",
    as: (@convention(c) (UnsafeRawPointer, Int, UnsafeRawPointer, Int) -> UnsafeRawPointer?).self)

  typealias Actions = UnsafeMutablePointer<posix_spawn_file_actions_t>

  /// posix_spawn_file_actions_addclosefrom_np(3), glibc 2.34: the child keeps no descriptor from this number on.
  static let addCloseFrom = find(
    "posix_spawn_file_actions_addclosefrom_np", as: (@convention(c) (Actions, Int32) -> Int32).self)

  /// posix_spawn_file_actions_addchdir_np(3)
  static let addChangeDirectory = find(
    "posix_spawn_file_actions_addchdir_np",
    as: (@convention(c) (Actions, UnsafePointer<CChar>) -> Int32).self)

  /// openpty(3)
  static let openTerminal = find(
    "openpty",
    as: (@convention(c) (
      UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>, UnsafeMutablePointer<CChar>?,
      UnsafeMutablePointer<termios>?, UnsafeMutablePointer<winsize>?
    ) -> Int32).self)
}

/// Makes a pipe whose ends no child inherits by accident.
func makePipe(flags: Int32 = 0) throws -> (reading: Int32, writing: Int32) {
  var ends: [Int32] = [-1, -1]
  try checked("make a pipe", GNU.pipe2(&ends, O_CLOEXEC | flags))
  return (ends[0], ends[1])
}
