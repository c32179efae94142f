import Foundation
import Glibc

/// The whole text of a file of proc(5). Foundation stops at 4 KiB there, because these files have no length.
public func procText(_ path: String) throws -> String {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { throw TestSupportError.failed(program: "open", reason: "\(path): error \(errno)") }
  defer { close(descriptor) }
  var text: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = read(descriptor, &buffer, buffer.count)
    guard count >= 0 else { throw TestSupportError.failed(program: "read", reason: "\(path): error \(errno)") }
    if count == 0 { return String(decoding: text, as: UTF8.self) }
    text += buffer[..<count]
  }
}
