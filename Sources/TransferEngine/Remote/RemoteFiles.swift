import WireValues

/// Files on an FTP, SFTP or SCP server, one transfer a call: what uploads by these protocols are built of. No hooks, no
/// retries, no ledger; those are the caller's.
struct RemoteFiles: Sendable {
  let session: Session
  /// Its URL names the server; credentials, time limits, rate and SSH settings are used for every call.
  let request: TransferRequest

  /// A file's size and time; `nil` where there is none. Needs the right to read it.
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

  /// Sends a body as a file, or its end from an offset on.
  /// - Parameters:
  ///   - offset: bytes of the body that the file has already; it must be exactly that long, for what follows is appended.
  ///   - createsDirectories: directories on the way that are missing are made.
  ///   - progressed: bytes of the body handed to the network, those before the offset included; on a loop's thread.
  /// - Throws: `.sizeDiffers` where the file is not as long as `offset`, nothing was sent then; or where it is afterwards not
  ///   as long as what was sent.
  /// - Returns: what it cost; `nil` where nothing was left to send.
  @discardableResult
  func upload(
    _ body: RequestBody, to url: RequestURL, from offset: Int64 = 0, createsDirectories: Bool = false,
    id: TransferID = TransferID(), progressed: (@Sendable (Int64) -> Void)? = nil
  ) async throws(TransferError) -> TransferMetrics? {
    try await upload(
      .body(body), to: url, from: offset, createsDirectories: createsDirectories, id: id, progressed: progressed)
  }

  /// What is sent: a body, whose files are opened by their names, or pieces of files that are open.
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

  /// The same for content of either kind.
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

  /// FTP servers say 226 of an upload that a broken connection cut, too: to them its end looks the same. Where the file
  /// cannot be seen (a box for drops) or the server knows no `SIZE`, its word has to do.
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

  /// Gives a file another name on the same server.
  /// - Parameter replacing: what stands under the new name goes. Where the server's own rename does not replace (OpenSSH's
  ///   SFTP, version 3 of the protocol), it is removed first: there is a moment without any file.
  /// - Throws: `.exists` without `replacing`; SFTP servers see to that themselves, with FTP it is asked before.
  func rename(_ from: RequestURL, to: RequestURL, replacing: Bool) async throws(TransferError) {
    let rename = RemoteCommand.rename(from: try RemotePath(from), to: try RemotePath(to))
    if !replacing {
      if try await stat(to) != nil { throw .remote(.exists(path: to.path)) }
      return try await command(from, [rename])
    }
    do throws(TransferError) {
      try await command(from, [rename])
    } catch .remote(let failure) where !failure.isTransient {
      // Nothing is removed for a rename that would fail all the same.
      guard try await stat(from) != nil, try await stat(to) != nil else { throw .remote(failure) }
      try await command(from, [.remove(try RemotePath(to), mayFail: true), rename])
    }
  }

  /// Removes a file. One that is not there is fine: that is what was wanted.
  func remove(_ url: RequestURL) async throws(TransferError) {
    do throws(TransferError) {
      try await command(url, [.remove(try RemotePath(url), mayFail: false)])
    } catch .remote(let failure) where !failure.isTransient {
      if case .missing = failure { return }
      guard try await stat(url) == nil else { throw .remote(failure) }
    }
  }

  /// Makes a directory and those above it. One that is there is fine.
  func makeDirectory(_ url: RequestURL) async throws(TransferError) {
    let directory = url.namesDirectory ? url : try url.appendingSlash()
    if url.isFTP {
      _ = try await perform(directory, .makeDirectory, FactsReceiver())
      return
    }
    try await command(url, try RemotePath(url).steps.map { .makeDirectory($0) })
    // SFTP says the same of a directory that is there and of one that may not be made: look.
    guard try await isDirectory(directory) else {
      throw .remote(.accessDenied(path: url.path, reply: "the directory cannot be made"))
    }
  }

  /// Whether the URL, taken as a directory, can be listed.
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
    _ url: RequestURL, _ operation: RemoteOptions.Operation, _ receiver: FactsReceiver, content: Content? = nil,
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

/// Keeps the facts, takes no bytes.
///
/// `@unchecked Sendable`: written on the transfer loop's thread and read after it; the loop's continuation stands between.
private final class FactsReceiver: TransferReceiver, @unchecked Sendable {
  private(set) var facts: RemoteFileFacts?

  func receive(_ head: ResponseHead) throws(TransferError) -> HeadVerdict { .dropBody }
  func receive(_ facts: RemoteFileFacts) throws(TransferError) -> HeadVerdict {
    self.facts = facts
    return .dropBody
  }
  func receive(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> BodyVerdict { .stop }
}

extension RequestURL {
  /// The same server, another path, percent-encoded.
  func replacingPath(with path: String) throws(TransferError) -> RequestURL {
    try RequestURL("\(scheme)://\(host):\(port)\(path)")
  }

  func appendingSlash() throws(TransferError) -> RequestURL { try replacingPath(with: path + "/") }
}
