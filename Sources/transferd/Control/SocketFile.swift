import Glibc
import HTTPServer
import WireValues

/// The control socket's place in the file system.
enum SocketFile {
  struct Unusable: Error, CustomStringConvertible {
    let description: String
  }

  /// Makes the directory, and removes a socket that an earlier daemon left.
  /// - Throws: if the path is too long, or if something exists there that must not be replaced.
  static func prepare(_ path: String) throws {
    guard path.utf8.count <= ListeningSocket.maximumPathBytes else {
      throw Unusable(
        description:
          "cannot listen on \(path): the path is longer than \(ListeningSocket.maximumPathBytes) bytes;"
          + " name a shorter one with --socket")
    }
    try StateDirectory.prepare(path.parentPath, mustBePrivate: false)
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw Unusable(description: "cannot listen on \(path): a file that is not a socket stands there")
    }
    guard !hasListener(path) else {
      throw Unusable(description: "cannot listen on \(path): another program answers on it")
    }
    unlink(path)
  }

  private static func hasListener(_ path: String) -> Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { buffer in
      for (index, byte) in path.utf8.enumerated() where index < buffer.count - 1 { buffer[index] = byte }
    }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
  }
}
