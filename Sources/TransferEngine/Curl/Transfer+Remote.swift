import CCurl
import Glibc
import WireValues

/// FTP, SFTP and SCP: the differences from HTTP in one transfer. Runs on a transfer loop's thread, like all of
/// `Transfer`.
extension Transfer {
  /// `CURLFTP_CREATE_DIR_RETRY`: accepts a directory that another upload has created in the meantime.
  private static let createOrFindDirectories = 2

  func configure(_ options: RemoteOptions, _ context: UnsafeMutableRawPointer) throws(TransferError) {
    let remote = RemoteTransferState(options)
    self.remote = remote
    handle.set(CURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(remote.message))
    handle.set(CURLOPT_FILETIME, true)
    handle.set(CURLOPT_HTTPPROXYTUNNEL, true)  // an HTTP proxy that fetches FTP URLs responds in HTTP
    handle.set(CURLOPT_NOPROGRESS, false)
    handle.set(CURLOPT_XFERINFODATA, context)
    handle.setProgress(CurlCallbacks.progress)
    if options.isIsolated {
      handle.set(CURLOPT_FRESH_CONNECT, true)
      handle.set(CURLOPT_FORBID_REUSE, true)
    }
    if options.isFTP { configureFTP(options) } else { try configureSSH(options, context) }
    try configureOperation(options, context)
  }

  private func configureFTP(_ options: RemoteOptions) {
    handle.set(CURLOPT_FTP_SKIP_PASV_IP, true)  // do not trust the address in the PASV reply
    handle.set(CURLOPT_FTP_USE_EPSV, true)
    // TLS 1.3 servers send tickets after the handshake. libcurl 7.88 does not read them from a connection to which it
    // only writes: closing it resets the connection, and the end of an upload is lost. Set for downloads too, because
    // uploads may reuse their connections.
    if request.minimumTLSVersion != .v1_3 {
      handle.set(CURLOPT_SSLVERSION, TRANSFER_SSLVERSION_TLSv1_2 | TRANSFER_SSLVERSION_MAX_TLSv1_2)
    }
    let stall = request.stallTimeout.map(\.wholeSecondsRoundedUp) ?? 300
    handle.set(CURLOPT_SERVER_RESPONSE_TIMEOUT, max(1, stall))
    switch options.ftpSecurity {
    case .none: break
    case .ifAvailable: handle.set(CURLOPT_USE_SSL, 1)  // CURLUSESSL_TRY
    case .required: handle.set(CURLOPT_USE_SSL, 3)  // CURLUSESSL_ALL
    }
  }

  private func configureSSH(_ options: RemoteOptions, _ context: UnsafeMutableRawPointer) throws(TransferError) {
    let check = HostKeyCheck(options.ssh, host: options.host, port: options.port)
    remote?.hostKeys = check
    handle.set(CURLOPT_SSH_HOSTKEYDATA, context)
    handle.setHostKeyCheck(CurlCallbacks.hostKey)
    if let path = check.hintPath { handle.set(CURLOPT_SSH_KNOWNHOSTS, path) }
    let given = request.credential?.credentials
    guard options.usesAmbientCredentials || given?.password.isEmpty == false else {
      throw .remote(
        .loginDenied(
          host: options.host, reply: "keys are not used for this request; it needs a user name and a password"))
    }
    let credentials = given ?? Credentials(username: LocalUser.name, password: "")
    handle.set(CURLOPT_USERNAME, credentials.username)
    handle.set(CURLOPT_PASSWORD, credentials.password)
    // Offer only the authentication methods that are configured: libcurl would try key files on its own.
    var ways = 0
    if options.usesAmbientCredentials, let key = try SSHKeyFile.path(options.ssh, host: request.host) {
      ways |= 1  // CURLSSH_AUTH_PUBLICKEY
      handle.set(CURLOPT_SSH_PRIVATE_KEYFILE, key)
      if let passphrase = options.ssh.passphrase { handle.set(CURLOPT_KEYPASSWD, passphrase) }
    }
    if !credentials.password.isEmpty { ways |= 2 | 8 }  // PASSWORD, KEYBOARD
    if options.usesAmbientCredentials, options.ssh.usesAgent { ways |= 16 }  // AGENT
    handle.set(CURLOPT_SSH_AUTH_TYPES, ways)
  }

  private func configureOperation(
    _ options: RemoteOptions, _ context: UnsafeMutableRawPointer
  ) throws(TransferError) {
    switch options.operation {
    case .read(let offset):
      remote?.isAwaitingFacts = true
      if offset > 0 { resume(from: offset, options) }
      if options.isMachineList, options.isFTP { handle.set(CURLOPT_CUSTOMREQUEST, "MLSD") }
    case .facts:
      handle.set(CURLOPT_NOBODY, true)
    case .write(let write):
      try configureWrite(options, write, context)
    case .commands(let commands):
      handle.set(CURLOPT_NOBODY, true)
      // For FTP after the change of directory, which a reused connection needs. SFTP has no current directory.
      let option = options.isFTP ? CURLOPT_PREQUOTE : CURLOPT_QUOTE
      handle.set(option, list: commands.flatMap { $0.lines(isFTP: options.isFTP) })
    case .makeDirectory where options.isFTP:
      handle.set(CURLOPT_NOBODY, true)
      handle.set(CURLOPT_FTP_CREATE_MISSING_DIRS, Self.createOrFindDirectories)
    case .freeSpace(let path):
      handle.set(CURLOPT_NOBODY, true)
      handle.set(CURLOPT_QUOTE, list: ["statvfs \(path.quoted)"])
    case .makeDirectory:
      throw .remote(.unsupported("internal: SFTP makes directories by commands"))
    }
  }

  private func configureWrite(
    _ options: RemoteOptions, _ write: RemoteOptions.Write, _ context: UnsafeMutableRawPointer
  ) throws(TransferError) {
    if options.scheme == "scp", write.offset > 0 { throw .remote(.cannotResume(reply: "SCP sends whole files only")) }
    let reader: any BodyReading
    if let upload = request.upload {
      reader = UploadBodyReader(upload)
    } else if let body = request.body {
      reader = try BodyReader(body)
    } else {
      throw .remote(.unsupported("there is nothing to send"))
    }
    self.reader = reader
    handle.set(CURLOPT_UPLOAD, true)
    handle.set(CURLOPT_INFILESIZE_LARGE, offset: reader.size)
    if write.offset > 0 { resume(from: write.offset, options) }
    if write.createsDirectories { handle.set(CURLOPT_FTP_CREATE_MISSING_DIRS, Self.createOrFindDirectories) }
    handle.set(CURLOPT_READDATA, context)
    handle.set(CURLOPT_READFUNCTION, CurlCallbacks.read)
    handle.set(CURLOPT_SEEKDATA, context)
    handle.setSeek(CurlCallbacks.seek)
  }

  private func resume(from offset: Int64, _ options: RemoteOptions) {
    handle.set(CURLOPT_RESUME_FROM_LARGE, offset: offset)
    // If nothing is left to transfer, libcurl drops the data connection, and the server's reply to that would be read
    // as the reply to the next command.
    if options.isFTP { handle.set(CURLOPT_FORBID_REUSE, true) }
  }

  // MARK: The end

  func remoteOutcome(_ code: CURLcode) -> TransferOutcome {
    let metrics = metrics
    guard let remote else { return .cancelled(metrics: metrics) }
    // An empty file has no bytes before which the facts could be delivered.
    if failure == nil, code == CURLE_OK {
      if remote.isAwaitingFacts { receiveFacts() }
      if case .facts = remote.options.operation { receiveFacts() }
      if let free = remote.freeBytes { _ = try? receiver.receive(RemoteFileFacts(size: free)) }
    }
    if let failure { return .failed(failure, head: nil, metrics: metrics) }
    if isStopped || code == CURLE_OK { return .finished(head: nil, metrics: metrics) }
    if code == CURLE_ABORTED_BY_CALLBACK, id.isCancelled { return .cancelled(metrics: metrics) }
    let status = remote.options.isFTP ? handle.long(CURLINFO_RESPONSE_CODE) : 0
    if let error = proxyFailure(code) ?? trustFailure(code) ?? interfaceFailure(code) {
      return .failed(error, head: nil, metrics: metrics)
    }
    let error = RemoteErrors.translate(
      code,
      RemoteErrors.Situation(
        options: remote.options, host: request.host, status: status, reply: remote.reply(status: status),
        systemError: Int32(handle.long(CURLINFO_OS_ERRNO)), received: metrics.bytesReceived,
        isConnected: handle.offset(CURLINFO_PRETRANSFER_TIME_T) > 0))
    return .failed(error, head: nil, metrics: metrics)
  }

  // MARK: Called by libcurl

  /// A line of the FTP dialogue. Lines that libcurl formats like HTTP (`Content-Length: …`) are ignored.
  func remoteHeader(_ line: UnsafeRawBufferPointer) -> Int {
    guard let remote else { return -1 }
    remote.dialogueBytes += line.count
    guard remote.dialogueBytes <= request.maximumHeadBytes else {
      failure = .response(.headTooLarge(limit: request.maximumHeadBytes))
      return -1
    }
    remote.lastMove = .now
    guard !Self.saysNegativeSize(line) else {
      failure = .response(.malformed("the server says that the file has fewer than 0 bytes"))
      return -1
    }
    if case .freeSpace = remote.options.operation {
      remote.freeBytes = RemoteFileFacts.freeBytes(in: String(decoding: line, as: UTF8.self)) ?? remote.freeBytes
    }
    let isReply = line.count > 3 && line[..<3].allSatisfy { (48...57).contains($0) } && line[3] == UInt8(ascii: " ")
    if isReply { remote.lastReply = RemoteErrors.printable(String(decoding: line.prefix(600), as: UTF8.self)) }
    return line.count
  }

  /// Whether a reply to SIZE is a negative number. libcurl reads only the digits at its end: `213 -5` would be five
  /// bytes, and a file of five bytes would be complete.
  private static func saysNegativeSize(_ line: UnsafeRawBufferPointer) -> Bool {
    guard line.starts(with: "213 ".utf8), let number = line.split(separator: UInt8(ascii: " ")).last,
      number.first == UInt8(ascii: "-"), let digit = number.dropFirst().first
    else { return false }
    return (48...57).contains(digit)
  }

  /// Whether arriving bytes belong to the file and are wanted. Delivers the facts first.
  func mayWrite() -> Bool {
    guard let remote, case .read = remote.options.operation else { return false }
    if remote.isAwaitingFacts { receiveFacts() }
    return failure == nil && !isStopped
  }

  private func receiveFacts() {
    guard let remote else { return }
    remote.isAwaitingFacts = false
    let offset = if case .read(let offset) = remote.options.operation { offset } else { Int64(0) }
    // A number from the server's reply to SIZE or RETR: hostile.
    var rest = handle.offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
    // The SSH protocols report nothing if the rest is empty.
    if rest < 0, remote.options.isSSH { rest = 0 }
    let time = handle.offset(CURLINFO_FILETIME_T)
    do throws(TransferError) {
      var size: Int64?
      if rest >= 0 {
        size = try (CheckedNumber(rest) + offset).orThrow(
          TransferError.response(.malformed("the server says that \(rest) bytes follow byte \(offset)")))
      }
      let facts = RemoteFileFacts(
        size: size, modificationTime: time < 0 ? nil : (CheckedNumber(time) * 1_000_000_000).value,
        isResumable: remote.options.scheme != "scp")
      verdict = try receiver.receive(facts)
      if case .stop = verdict { isStopped = true }
    } catch {
      failure = error
    }
  }

  /// Called again and again, even while libcurl waits. A result other than 0 ends the transfer.
  func progress(received: Int64, sent: Int64) -> Int32 {
    guard mayReadFromProxy() else { return 1 }
    guard let remote else {
      noteEnd()
      return 0
    }
    if id.isCancelled { return 1 }
    let moved = received.saturatingSum(sent)
    if moved != remote.moved {
      remote.moved = moved
      remote.lastMove = .now
      if sent > 0, case .write(let write) = remote.options.operation {
        write.progressed?(write.offset.saturatingSum(sent))
      }
    } else if let end = silenceEnd, end < .now {
      failure = .connection(.stalled)
      return 1
    }
    return 0
  }

  /// When the silence of the server ends this transfer; `nil` if libcurl watches it, and without a time limit.
  var silenceEnd: ContinuousClock.Instant? {
    // While the transfer is suspended, or waits for bandwidth or for its receiver, the server is not to blame.
    let mustWait = isHeld || isPaused || bandwidth?.isWaiting == true
    if let remote, let limit = remote.silenceLimit(request) {
      if mustWait { remote.lastMove = .now }
      return remote.lastMove + limit  // checked: the limit is added to a moment that has passed
    }
    guard isSilenceWatched, let limit = request.stallTimeout else { return nil }
    if mustWait { movedAt = .now }
    return movedAt.map { $0 + limit }  // checked: the limit is added to a moment that has passed
  }

  func judge(hostKey: UnsafeRawBufferPointer) -> Int32 {
    guard let objection = remote?.hostKeys?.objection(to: [UInt8](hostKey)) else { return CURLKHMATCH_OK_VALUE }
    failure = .remote(objection)
    return CURLKHMATCH_MISMATCH_VALUE
  }
}

private let CURLKHMATCH_OK_VALUE = Int32(CURLKHMATCH_OK.rawValue)

private let CURLKHMATCH_MISMATCH_VALUE = Int32(CURLKHMATCH_MISMATCH.rawValue)

extension CurlCallbacks {
  static let progress: transfer_progress_callback = { context, _, received, _, sent in
    Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue().progress(
      received: Int64(received), sent: Int64(sent))
  }

  static let hostKey: transfer_host_key_callback = { context, _, key, length in
    Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
      .judge(hostKey: .init(start: key, count: length))  // checked: libcurl counts the bytes of its own buffer
  }
}
