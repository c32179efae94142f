import Glibc
import WireValues

/// Reads `file:` URLs like transfers over a network. It does not use the transfer loops, which libcurl's own reader
/// would block.
actor LocalFileReader: TransferPerformer {
  private static let pieceBytes = 1 << 20
  /// Transfers whose receiver returned `.pause`.
  private var paused: [TransferID: CheckedContinuation<Void, Never>] = [:]
  /// Transfers that were unpaused before they were registered as paused.
  private var unpaused: Set<TransferID> = []

  func cancel(_ id: TransferID) {
    id.cancel()
    paused.removeValue(forKey: id)?.resume()
  }

  func unpause(_ id: TransferID) {
    if let continuation = paused.removeValue(forKey: id) { continuation.resume() } else { unpaused.insert(id) }
  }

  /// Suspended requests continue to read: the receiver limits how much it takes.
  func adjustHold(_ id: TransferID) {}

  func perform(_ request: WireRequest, id: TransferID, receiver: any TransferReceiver) async -> TransferOutcome {
    let start = ContinuousClock.now
    var metrics = TransferMetrics()
    let outcome: Result<Int64, TransferError>
    do throws(TransferError) {
      guard let remote = request.remote, case .read(let offset) = remote.operation else {
        throw .remote(.unsupported("file: URLs can only be read"))
      }
      outcome = .success(try await read(remote, from: offset, id, receiver))
    } catch {
      outcome = .failure(error)
    }
    unpaused.remove(id)
    metrics.total = start.duration(to: .now)
    switch outcome {
    case .success(let count):
      metrics.bytesReceived = count
      return .finished(head: nil, metrics: metrics)
    case .failure(.cancelled): return .cancelled(metrics: metrics)
    case .failure(let error): return .failed(error, head: nil, metrics: metrics)
    }
  }

  /// Returns the number of bytes.
  private func read(
    _ remote: RemoteOptions, from offset: Int64, _ id: TransferID, _ receiver: any TransferReceiver
  ) async throws(TransferError) -> Int64 {
    let path = remote.path
    let source = try await BlockingIO.run { () throws(TransferError) in try LocalSource(path) }
    guard case .takeBody = try receiver.receive(source.facts) else { return 0 }
    var position = offset
    let buffer = SendableBuffer(count: Self.pieceBytes)
    while true {
      guard !Task.isCancelled, !id.isCancelled else { throw .cancelled }
      let at = position
      let count = try await BlockingIO.run { () throws(TransferError) in try source.read(into: buffer.bytes, at: at) }
      guard count > 0 else {
        guard source.isUnchanged else { throw .connection(.broken("\(path) changed while it was read")) }
        return position - offset  // checked: 0 ≤ offset ≤ position
      }
      while true {
        let verdict = try await BlockingIO.run { () throws(TransferError) in
          try receiver.receive(.init(rebasing: buffer.bytes[..<count]))
        }
        if case .stop = verdict { return position - offset }  // checked: 0 ≤ offset ≤ position
        if case .taken = verdict { break }
        await pause(id)
        guard !Task.isCancelled, !id.isCancelled else { throw .cancelled }
      }
      position += Int64(count)  // checked: position is at most the file's size
    }
  }

  private func pause(_ id: TransferID) async {
    if unpaused.remove(id) != nil { return }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled || id.isCancelled { continuation.resume() } else { paused[id] = continuation }
      }
    } onCancel: {
      Task { await self.cancel(id) }
    }
  }
}

/// An open regular file of this machine.
private final class LocalSource: Sendable {
  let facts: RemoteFileFacts
  private let descriptor: Int32
  private let path: String

  init(_ path: String) throws(TransferError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else {
      let reason = String(cString: strerror(errno))
      switch errno {
      case ENOENT, ENOTDIR: throw .remote(.missing(path: path, reply: reason))
      case EACCES, EPERM: throw .remote(.accessDenied(path: path, reply: reason))
      default: throw .file(.system("cannot read \(path)", errno: errno))
      }
    }
    var status = stat()
    fstat(descriptor, &status)
    guard status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      if status.st_mode & S_IFMT == S_IFDIR { throw .remote(.isDirectory(path: path)) }
      throw .remote(.unsupported("\(path) is not a regular file"))
    }
    self.descriptor = descriptor
    self.path = path
    facts = Self.facts(status)
  }

  private static func facts(_ status: stat) -> RemoteFileFacts {
    RemoteFileFacts(
      size: Int64(status.st_size),
      modificationTime: (CheckedNumber(status.st_mtim.tv_sec) * 1_000_000_000 + status.st_mtim.tv_nsec).value)
  }

  var isUnchanged: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && Self.facts(status) == facts
  }

  deinit { close(descriptor) }

  /// 0 at the end: the size that the file had when it was opened.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(TransferError) -> Int {
    let rest = (CheckedNumber(facts.size) - offset).nonNegative ?? 0
    let wanted = Int(min(Int64(buffer.count), rest))
    while true {
      let count = pread(descriptor, buffer.baseAddress, wanted, off_t(offset))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .file(.system("cannot read \(path)", errno: errno)) }
      return count
    }
  }
}

/// `@unchecked Sendable`: one reader fills it and waits until its bytes are taken before it fills it again.
private final class SendableBuffer: @unchecked Sendable {
  let bytes: UnsafeMutableRawBufferPointer
  init(count: Int) { bytes = .allocate(byteCount: count, alignment: 4096) }
  deinit { bytes.deallocate() }
}
