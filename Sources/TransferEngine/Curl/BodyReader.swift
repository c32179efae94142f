import FoundationEssentials
import Glibc

/// Where libcurl gets a request's body from. Used on the transfer loop's thread alone.
protocol BodyReading: AnyObject {
  var size: Int64 { get }
  /// Bytes read; 0 at the end; `TRANSFER_READFUNC_PAUSE` to be asked again after `TransferLoop.unpause`.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int
  /// Goes back, where libcurl has to send again; false where that must not be.
  func seek(to offset: Int64) -> Bool
  func close()
}

/// Reads a request's body for libcurl, from memory or from a file; rewinds when libcurl sends it again.
final class BodyReader: BodyReading {
  let size: Int64
  private let source: Source
  private var position: Int64 = 0

  private enum Source {
    case bytes(Data)
    case descriptor(Int32)
  }

  /// - Throws: `.file` where the path is not a readable regular file.
  init(_ body: RequestBody) throws(TransferError) {
    switch body {
    case .data(let bytes):
      source = .bytes(bytes)
      size = Int64(bytes.count)
    case .file(let path):
      let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
      var status = stat()
      guard descriptor >= 0 else { throw .file(.system("cannot read \(path)", errno: errno)) }
      guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        Glibc.close(descriptor)
        throw .file(.system("cannot read \(path): not a regular file", errno: EINVAL))
      }
      source = .descriptor(descriptor)
      size = Int64(status.st_size)
    }
  }

  func close() {
    if case .descriptor(let descriptor) = source { Glibc.close(descriptor) }
  }

  func seek(to offset: Int64) -> Bool {
    position = offset
    return true
  }

  /// Bytes read; 0 at the end. Never more than `size` in all, so that a growing file does not break the request.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
    let wanted = Int(min(Int64(buffer.count), size - position))
    guard wanted > 0 else { return 0 }
    switch source {
    case .bytes(let bytes):
      bytes.withUnsafeBytes { all in
        buffer.copyMemory(from: .init(rebasing: all[Int(position)..<Int(position) + wanted]))
      }
      position += Int64(wanted)
      return wanted
    case .descriptor(let descriptor):
      let count = pread(descriptor, buffer.baseAddress, wanted, off_t(position))
      guard count > 0 else {
        throw .file(.system("cannot read the file that is sent", errno: count < 0 ? errno : EIO))
      }
      position += Int64(count)
      return count
    }
  }
}
