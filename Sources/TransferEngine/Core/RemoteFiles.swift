import FoundationEssentials
import WireValues

/// File operations on an FTP, SFTP or SCP server, one transfer in each call. Uploads by these protocols use these
/// operations, which have no hooks, no retries and no ledger.
struct RemoteFiles: Sendable {
  let session: Session
  /// Its URL names the server; credentials, time limits, rate and SSH settings are used for every call.
  let request: TransferRequest

  /// A file's size and time; `nil` if it does not exist. Needs the permission to read it.
  func stat(_ url: RequestURL) async throws(TransferError) -> RemoteFileFacts? {
    if url.scheme == "scp" { throw .remote(.unsupported("SCP cannot ask for a file's size")) }
    let receiver = FactsReceiver()
    do throws(TransferError) {
      _ = try await perform(url, .facts, receiver)
    } catch .remote(.missing) {
      return nil
    }
    return receiver.facts
  }

  /// The bytes that are free where a file is; `nil` if the server does not tell. Only SFTP can ask.
  func freeBytes(_ url: RequestURL) async -> Int64? {
    guard url.scheme == "sftp", let path = try? RemotePath(url), let root = try? url.replacingPath(with: "/") else {
      return nil
    }
    let receiver = FactsReceiver()
    _ = try? await perform(root, .freeSpace(path), receiver, about: url)
    return receiver.facts?.size
  }

  /// The bytes of a range of a file; fewer if the file is shorter.
  func read(_ url: RequestURL, _ range: Range<Int64>) async throws(TransferError) -> Data {
    let receiver = BytesReceiver(limit: range.count)
    _ = try await perform(url, .read(from: range.lowerBound), receiver)
    return receiver.bytes
  }

  /// Sends a body as a file, or its rest from an offset on.
  /// - Parameters:
  ///   - offset: bytes of the body that the file already has. The file must have exactly this size, because the rest is
  ///     appended.
  ///   - createsDirectories: create missing directories on the path.
  ///   - progressed: bytes of the body that were handed to the network, including those before the offset; called on a
  ///     loop's thread.
  /// - Throws: `.sizeDiffers` if the file's size is not `offset` (then nothing was sent), or if its size afterwards is
  ///   not the expected one.
  /// - Returns: the metrics; `nil` if nothing was left to send.
  @discardableResult
  func upload(
    _ body: RequestBody, to url: RequestURL, from offset: Int64 = 0, createsDirectories: Bool = false,
    id: TransferID = TransferID(), progressed: (@Sendable (Int64) -> Void)? = nil
  ) async throws(TransferError) -> TransferMetrics? {
    try await upload(
      .body(body), to: url, from: offset, createsDirectories: createsDirectories, id: id, progressed: progressed)
  }

  /// What is sent: a body, whose files are opened by name, or pieces of open files.
  enum Content {
    case body(RequestBody)
    case open(UploadBody)

    fileprivate var size: Int64 {
      get throws(TransferError) {
        switch self {
        case .open(let upload): return upload.size
        case .body(let body):
          let reader = try BodyReader(body)
          reader.close()
          return reader.size
        }
      }
    }
  }

  /// The same for either kind of content.
  @discardableResult
  func upload(
    _ content: Content, to url: RequestURL, from offset: Int64 = 0, createsDirectories: Bool = false,
    id: TransferID = TransferID(), progressed: (@Sendable (Int64) -> Void)? = nil
  ) async throws(TransferError) -> TransferMetrics? {
    guard !url.namesDirectory else { throw .remote(.isDirectory(path: url.path)) }
    if offset > 0, url.scheme != "scp" {
      let facts = try await stat(url)
      guard let size = facts?.size, size == offset else {
        throw .remote(.sizeDiffers(path: url.path, expected: offset, actual: facts?.size))
      }
      if try content.size == offset { return nil }
    }
    let write = RemoteOptions.Write(offset: offset, createsDirectories: createsDirectories, progressed: progressed)
    let metrics = try await perform(url, .write(write), FactsReceiver(), content: content, id: id)
    if url.scheme != "scp" { try await compareSize(url, offset.saturatingSum(metrics.bytesSent)) }
    return metrics
  }

  /// FTP servers also reply 226 to an upload that a broken connection cut short, because its end looks the same to
  /// them. If the file cannot be examined (a drop box), or the server has no `SIZE`, the reply must be trusted.
  private func compareSize(_ url: RequestURL, _ sent: Int64) async throws(TransferError) {
    let facts: RemoteFileFacts?
    do throws(TransferError) {
      facts = try await stat(url)
    } catch .remote(let failure) where !failure.isTransient {
      return
    }
    if let size = facts?.size, size != sent {
      throw .remote(.sizeDiffers(path: url.path, expected: sent, actual: size))
    }
  }

  /// Renames a file on the server.
  /// - Parameter replacing: replaces an existing file. If the server's rename cannot replace (OpenSSH's SFTP, version 3
  ///   of the protocol), the existing file is renamed to `aside(of: from)` first and removed afterwards: for a moment
  ///   there is no file, but a server that refuses renames or ends in between has not lost it.
  /// - Throws: `.exists` without `replacing`. SFTP servers check that themselves; for FTP it is checked before.
  func rename(_ from: RequestURL, to: RequestURL, replacing: Bool) async throws(TransferError) {
    let rename = RemoteCommand.rename(from: try RemotePath(from), to: try RemotePath(to))
    if !replacing {
      if try await stat(to) != nil { throw .remote(.exists(path: to.path)) }
      return try await command(from, [rename])
    }
    do throws(TransferError) {
      try await command(from, [rename])
    } catch .remote(let failure) where !failure.isTransient {
      // Nothing is touched if the rename would fail anyway, and nothing that cannot be read as a file: a directory
      // would be put aside with all that is in it.
      guard try await stat(from) != nil, try await stat(to) != nil, (try? await read(to, 0..<1)) != nil else {
        throw .remote(failure)
      }
      let (old, aside) = (try RemotePath(to), try RemotePath(Self.aside(of: from)))
      do throws(TransferError) {
        try await command(
          from,
          [.remove(aside, mayFail: true), .rename(from: old, to: aside), rename, .remove(aside, mayFail: true)])
      } catch .remote(let refusal) {
        // The server refused one of the two renames: give the old file its name back. After a lost connection it is
        // unknown which renames were made, so that error is not caught here: `removeAside` looks at the next attempt.
        try? await command(from, [.rename(from: aside, to: old)])
        throw .remote(refusal)
      }
    }
  }

  /// Where a file stays while another takes its name: beside the temporary name of the other.
  static func aside(of temporary: RequestURL) throws(TransferError) -> RequestURL {
    let path = temporary.path
    return try temporary.replacingPath(with: (path.hasSuffix(".part") ? String(path.dropLast(5)) : path) + ".old")
  }

  /// Removes what a rename that replaces may have left aside; gives it back its name if no file has taken it.
  func removeAside(of temporary: RequestURL, target: RequestURL) async throws(TransferError) {
    let aside = try Self.aside(of: temporary)
    do throws(TransferError) {
      guard try await stat(aside) != nil else { return }
    } catch .remote(let failure) where !failure.isTransient {
      return
    }
    do throws(TransferError) {
      try await rename(aside, to: target, replacing: false)
    } catch .remote(.exists) {
      try await remove(aside)
    }
  }

  /// Removes a file. A missing file is no error.
  func remove(_ url: RequestURL) async throws(TransferError) {
    do throws(TransferError) {
      try await command(url, [.remove(try RemotePath(url), mayFail: false)])
    } catch .remote(let failure) where !failure.isTransient {
      if case .missing = failure { return }
      guard try await stat(url) == nil else { throw .remote(failure) }
    }
  }

  /// Creates a directory and its parents. An existing one is no error.
  func makeDirectory(_ url: RequestURL) async throws(TransferError) {
    let directory = url.namesDirectory ? url : try url.appendingSlash()
    if url.isFTP {
      _ = try await perform(directory, .makeDirectory, FactsReceiver())
      return
    }
    try await command(url, try RemotePath(url).steps.map { .makeDirectory($0) })
    // SFTP reports the same error for an existing directory and for one that may not be created: check.
    guard try await isDirectory(directory) else {
      throw .remote(.accessDenied(path: url.path, reply: "the directory cannot be made"))
    }
  }

  /// Whether the URL can be listed as a directory.
  func isDirectory(_ url: RequestURL) async throws(TransferError) -> Bool {
    do throws(TransferError) {
      _ = try await perform(url.namesDirectory ? url : try url.appendingSlash(), .read(from: 0), FactsReceiver())
      return true
    } catch .remote {
      return false
    }
  }

  private func command(_ url: RequestURL, _ commands: [RemoteCommand]) async throws(TransferError) {
    if url.scheme == "scp" { throw .remote(.unsupported("SCP knows no commands; use sftp")) }
    _ = try await perform(try url.replacingPath(with: "/"), .commands(commands), FactsReceiver(), about: url)
  }

  private func perform(
    _ url: RequestURL, _ operation: RemoteOptions.Operation, _ receiver: any TransferReceiver, content: Content? = nil,
    id: TransferID = TransferID(), about: RequestURL? = nil
  ) async throws(TransferError) -> TransferMetrics {
    precondition(url.origin == request.url.origin, "one server at a time")
    var request = request
    request.url = url
    request.body = if case .body(let body)? = content { body } else { nil }
    var wire = session.wireRequest(request)
    wire.remote?.operation = operation
    if case .open(let upload)? = content { wire.upload = upload }
    if let about { wire.remote?.path = about.path }
    switch await (try session.performer(for: url)).perform(wire, id: id, receiver: receiver) {
    case .finished(_, let metrics): return metrics
    case .failed(let error, _, _): throw error
    case .cancelled: throw .cancelled
    }
  }
}

/// Stores the facts and takes no bytes.
///
/// `@unchecked Sendable`: written on the transfer loop's thread and read afterwards; the loop's continuation separates
/// the two.
private final class FactsReceiver: TransferReceiver, @unchecked Sendable {
  private(set) var facts: RemoteFileFacts?

  func receive(_ head: ResponseHead) throws(TransferError) -> HeadVerdict { .dropBody }
  func receive(_ facts: RemoteFileFacts) throws(TransferError) -> HeadVerdict {
    self.facts = facts
    return .dropBody
  }
  func receive(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> BodyVerdict { .stop }
}

/// Keeps the first bytes of a file, and ends the transfer if there are more.
///
/// `@unchecked Sendable`: as for `FactsReceiver`.
private final class BytesReceiver: TransferReceiver, @unchecked Sendable {
  private(set) var bytes = Data()
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  func receive(_ head: ResponseHead) throws(TransferError) -> HeadVerdict { .dropBody }
  func receive(_ piece: UnsafeRawBufferPointer) throws(TransferError) -> BodyVerdict {
    let wanted = min(limit - bytes.count, piece.count)  // checked: there are never more than `limit` bytes
    bytes.append(contentsOf: piece.prefix(wanted))  // checked: `wanted` is at least 0
    return wanted < piece.count ? .stop : .taken
  }
}

extension RequestURL {
  /// Another path on the same server, percent-encoded.
  func replacingPath(with path: String) throws(TransferError) -> RequestURL {
    try RequestURL("\(scheme)://\(host):\(port)\(path)")
  }

  func appendingSlash() throws(TransferError) -> RequestURL { try replacingPath(with: path + "/") }
}
