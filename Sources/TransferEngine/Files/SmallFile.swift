public import FoundationEssentials
import Glibc

/// Reads a small file, such as a configuration file, at once.
public enum SmallFile {
  /// Blocks.
  /// - Parameter rules: where the file may be.
  /// - Throws: `.file` if the path is not a readable regular file, has more than `limit` bytes, or the rules refuse it.
  public static func read(
    _ path: String, atMost limit: Int, rules: PathRules = .none
  ) throws(TransferError) -> Data {
    let descriptor = try rules.openFile(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else { throw .file(.system("cannot read \(path)", errno: errno)) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw .file(.system("cannot read \(path): not a regular file", errno: EINVAL))
    }
    var data = Data()
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .file(.system("cannot read \(path)", errno: errno)) }
      if count == 0 { return data }
      data.append(contentsOf: buffer[..<count])
      guard data.count <= limit else {
        throw .file(.system("cannot read \(path): larger than \(limit) bytes", errno: EFBIG))
      }
    }
  }
}
