import Glibc

/// Identifies a boot: what was written before a kill is in the page cache of the same boot only.
enum BootID {
  /// `/proc/sys/kernel/random/boot_id` (random(4)). If it cannot be read, a value that equals no other.
  static let current: String = {
    let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "unknown-\(UInt64.random(in: 0 ... .max))" }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &buffer, buffer.count)
    guard count > 0 else { return "unknown-\(UInt64.random(in: 0 ... .max))" }
    return String(decoding: buffer[..<count].filter { $0 > 0x20 }, as: UTF8.self)
  }()
}
