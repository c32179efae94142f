import CCurl
import Glibc
import HTTPTypes
import WireValues

/// One libcurl easy handle in use, from `configure` to `close`. Used on the transfer loop's thread only.
final class Transfer {
  let id: TransferID
  let handle: EasyHandle
  let completion: TransferCompletion
  let request: WireRequest
  let receiver: any TransferReceiver
  private var parser: ResponseHeadParser
  private var head: ResponseHead?
  var currentHead: ResponseHead? { head }
  /// The costs of the transfer so far.
  var metrics: TransferMetrics {
    var metrics = TransferMetrics(of: handle, tls: tls)
    metrics.isEndMissing = isEndAnnounced == false
    return metrics
  }
  var verdict = HeadVerdict.takeBody
  /// The head may be a challenge to which libcurl responds; the receiver has not got it.
  private var isHeadHeld = false
  private var droppedBytes = 0
  /// Decodes the body's coding; set from the first byte on.
  var decoder: ContentDecoder?
  /// The receiver's own error; it is more precise than libcurl's "write error".
  var failure: TransferError?
  var isStopped = false
  var reader: (any BodyReading)?
  /// The body, if it is a stream.
  private(set) var pipe: BodyPipe?
  /// Bytes that libcurl has taken of the body since it was last rewound.
  private var bodyPosition: Int64 = 0
  /// The request is suspended: no bytes are taken or sent.
  var isHeld = false
  /// The transfer's part of the session's bandwidth; `nil` if no limit applies to it.
  var bandwidth: TransferBandwidth?
  /// What libcurl reads from TLS connections.
  var reading: TLSReading?
  /// Where OpenSSL has the connection's session. It is only compared.
  var sessionAddress: UnsafeMutableRawPointer?
  /// The connections that wait for a request.
  var idleSockets: IdleSockets?
  /// Nothing was sent, because the connection that libcurl chose must not be used.
  var needsNewConnection = false
  /// How often libcurl has read from a proxy that does not forward bytes yet.
  var tunnelReads = 0
  /// The state of a transfer by a protocol other than HTTP.
  var remote: RemoteTransferState?
  /// The TLS session; known while the transfer has its connection.
  var tls: TLSSession?
  /// The end of the body is that of the connection.
  var endsWithConnection = false
  /// Whether the server has announced that end in TLS; `nil` if that is not known.
  var isEndAnnounced: Bool?
  /// An address of the host that was refused.
  var refusedAddress: IPAddress?
  /// Another address was permitted, so a failure does not concern the address.
  var isAddressPermitted = false
  /// When something of the response arrived last, or libcurl took a part of the body to send it.
  var movedAt: ContinuousClock.Instant?
  /// When the final response's head was complete.
  var headAt: ContinuousClock.Instant?
  /// Bytes of the body that the receiver has taken, as they were sent.
  var bodyTaken: Int64 = 0
  /// How a slow download is woken; `nil` in its first second, and if it cannot be paced.
  var pacing: ReceivePacing?
  var pacingIsRuledOut = false
  /// The loop watches the server's silence, and libcurl does not.
  var isSilenceWatched = false
  /// The receiver has to wait: no bytes are taken.
  var isPaused = false
  /// The socket on which libcurl has waited for this transfer last. `nil` for a stream that shares another's connection.
  var watchedSocket: Int32?
  let loop: LoopState

  /// An unwanted body of up to this size is read to its end; a longer one costs the connection.
  private static let maximumDroppedBytes = 64 * 1024

  init(
    id: TransferID, request: WireRequest, receiver: any TransferReceiver, handle: EasyHandle,
    loop: LoopState, _ completion: TransferCompletion
  ) {
    self.id = id
    self.request = request
    self.receiver = receiver
    self.handle = handle
    self.loop = loop
    self.completion = completion
    parser = ResponseHeadParser(
      HeadLimits(totalBytes: request.maximumHeadBytes, interims: request.maximumInterimResponses))
  }

  /// Sets all options. Comments give the reasons for the less obvious ones.
  /// - Throws: `.file` if the body cannot be read.
  func configure() throws(TransferError) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    handle.set(CURLOPT_PRIVATE, context)
    handle.set(CURLOPT_URL, request.url)
    handle.set(CURLOPT_NOSIGNAL, true)  // libcurl must not use signals in a program with threads
    handle.set(CURLOPT_NOPROGRESS, true)  // bytes are counted in the write callback
    handle.set(CURLOPT_FOLLOWLOCATION, false)  // redirects are ours: each hop is a new transfer
    handle.set(CURLOPT_PROTOCOLS_STR, request.remote?.scheme ?? "http,https")
    handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
    try configureProxy()
    handle.set(CURLOPT_BUFFERSIZE, min(bandwidth?.bufferSize ?? Self.bufferSize, receiver.bufferSize))
    handle.set(CURLOPT_TCP_KEEPALIVE, true)
    handle.set(CURLOPT_CONNECTTIMEOUT_MS, max(1, request.connectTimeout.wholeMilliseconds))  // 0 would mean 300 s
    if let stall = request.stallTimeout {
      handle.set(CURLOPT_LOW_SPEED_LIMIT, stallSpeed)
      handle.set(CURLOPT_LOW_SPEED_TIME, max(1, stall.wholeSecondsRoundedUp))
    }
    if request.needsFreshConnection { handle.set(CURLOPT_FRESH_CONNECT, true) }
    if let path = request.unixSocketPath { handle.set(CURLOPT_UNIX_SOCKET_PATH, path) }
    try configureConnection()
    configureCredential()
    handle.set(CURLOPT_HEADERDATA, context)
    handle.set(CURLOPT_HEADERFUNCTION, CurlCallbacks.header)
    handle.set(CURLOPT_WRITEDATA, context)
    handle.set(CURLOPT_WRITEFUNCTION, CurlCallbacks.write)
    configureAddresses(context)
    try configureTrust(context)
    if let remote = request.remote { return try configure(remote, context) }
    try configureMethod(context)
    var lines = request.headers.asSent.map(Self.line)
    if !expectsContinue { lines.append("Expect:") }
    handle.set(CURLOPT_HTTPHEADER, list: lines)
  }

  private func configureMethod(_ context: UnsafeMutableRawPointer) throws(TransferError) {
    if try openBody() {
      handle.set(CURLOPT_UPLOAD, true)
      handle.set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
      // HTTP/2 uploads loop in libcurl below 8.1.1.
      handle.set(CURLOPT_HTTP_VERSION, TRANSFER_HTTP_VERSION_1_1)
      // Fewer reads and writes for large bodies; the default of 64 KiB is enough for small ones.
      if (reader?.size ?? 0) > 1 << 16 { handle.set(CURLOPT_UPLOAD_BUFFERSIZE, Self.bufferSize) }
      handle.set(CURLOPT_INFILESIZE_LARGE, offset: reader?.size ?? -1)
      receiver.didSend(TransferProgress(completed: 0, total: reader?.size))
      handle.set(CURLOPT_READDATA, context)
      handle.set(CURLOPT_READFUNCTION, CurlCallbacks.read)
      handle.set(CURLOPT_SEEKDATA, context)
      handle.setSeek(CurlCallbacks.seek)
    } else if request.method == .head {
      handle.set(CURLOPT_NOBODY, true)
    } else if request.method == .get {
      handle.set(CURLOPT_HTTPGET, true)
      // Wait for a connection that may carry several transfers (HTTP/2) instead of making another.
      if bandwidth == nil, request.url.hasPrefix("https://") { handle.set(CURLOPT_PIPEWAIT, true) }
    } else if request.method == .post {
      // A POST without a body sends `Content-Length: 0`.
      handle.set(CURLOPT_POST, true)
      handle.set(CURLOPT_POSTFIELDSIZE, 0)
      handle.set(CURLOPT_COPYPOSTFIELDS, "")
    } else {
      handle.set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
    }
  }

  /// Opens the body: pieces, a body, or a stream of unknown length, which is sent in chunks.
  /// - Returns: whether there is a body.
  private func openBody() throws(TransferError) -> Bool {
    if let upload = request.upload {
      reader = UploadBodyReader(upload)
    } else if case .stream(let pipe)? = request.body {
      self.pipe = pipe
    } else if let body = request.body {
      reader = try BodyReader(body)
    }
    return reader != nil || pipe != nil
  }

  /// Whether to wait up to 1 s for the server's `100 Continue`: for streams and for bodies above 1 MiB, libcurl's own
  /// limit (`EXPECT_100_THRESHOLD`), so that a refusal does not cost the whole body (RFC 9110 §10.1.1). After a 417
  /// libcurl repeats the request without it.
  private var expectsContinue: Bool {
    guard !request.headers.contains(.expect) else { return false }
    return reader.map { $0.size > 1 << 20 } ?? (pipe != nil)
  }

  /// libcurl's format: `Name;` sends an empty value, `Name:` would remove the field.
  private static func line(_ field: HTTPField) -> String {
    field.value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(field.value)"
  }

  func close() {
    reader?.close()
    pipe?.detach()
  }

  func outcome(_ code: CURLcode) -> TransferOutcome {
    if failure == nil { failure = addressFailure(code) }
    if remote != nil { return remoteOutcome(code) }
    let metrics = metrics
    if isHeadHeld, code == CURLE_OK, let head { _ = deliver(head) }
    if code == CURLE_OK { finishDecoding() }
    if let failure { return .failed(failure, head: head, metrics: metrics) }
    if isStopped || code == CURLE_OK { return .finished(head: head, metrics: metrics) }
    // libcurl below 8.6 reports a header line above its limit with this code (`Curl_dyn_addn`); nothing else of that
    // size is received before the head.
    if code == CURLE_OUT_OF_MEMORY, head == nil {
      return .failed(.response(.headTooLarge(limit: CurlError.maximumLine)), head: nil, metrics: metrics)
    }
    if let error = proxyFailure(code) ?? trustFailure(code) ?? interfaceFailure(code) ?? certificateFailure(code) {
      return .failed(error, head: head, metrics: metrics)
    }
    let error = CurlError.translate(
      code, host: request.host, systemError: Int32(handle.long(CURLINFO_OS_ERRNO)),
      received: metrics.bytesReceived, isConnected: handle.offset(CURLINFO_PRETRANSFER_TIME_T) > 0)
    return .failed(error, head: head, metrics: metrics)
  }

  /// The kernel does not watch the connection's socket.
  func outcome(refusingSocket error: Int32) -> TransferOutcome {
    let reason = "the system cannot watch its socket: \(String(cString: strerror(error)))"
    return .failed(failure ?? .connection(.broken(reason)), head: head, metrics: metrics)
  }

  // MARK: Called by libcurl

  /// A result other than the given count ends the transfer (`CURLOPT_HEADERFUNCTION(3)`).
  func header(_ line: UnsafeRawBufferPointer) -> Int {
    movedAt = .now
    reading?.reset()
    noteTLS()
    if remote != nil { return remoteHeader(line) }
    switch parser.take(line) {
    case .reading: return line.count
    case .interim(let head):
      receiver.receive(interim: head)
      return line.count
    case .tooLarge:
      failure = .response(.headTooLarge(limit: request.maximumHeadBytes))
      return -1
    case .finished(var head):
      head.url = request.source
      self.head = head
      headAt = movedAt
      watchEnd(of: head, Unmanaged.passUnretained(self).toOpaque())
      // A body that waits for its source would keep libcurl from ending after a refusal.
      if head.status >= 300 { pipe?.wakeUp() }
      if let refusal = proxyFailure(head), !awaitsProxyChallenge || isHeadHeld {
        failure = refusal
        return -1
      }
      isHeadHeld = mayBeChallenge(head)
      return isHeadHeld || deliver(head) ? line.count : -1
    }
  }

  /// False if the transfer must end.
  private func deliver(_ head: ResponseHead) -> Bool {
    isHeadHeld = false
    request.didReceiveHead?(head)
    do throws(TransferError) {
      verdict = try receiver.receive(head)
    } catch {
      failure = error
      return false
    }
    if case .stop = verdict { isStopped = true }
    return !isStopped
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Int {
    movedAt = .now
    reading?.reset()
    if isHeld || bandwidth?.mayReceive(self) == false { return Int(TRANSFER_WRITEFUNC_PAUSE) }
    // libcurl treats every line that begins with CR as the end of the head, whatever else the line contains. Then no
    // verdict about the body exists.
    guard remote != nil || parser.isDone else {
      failure = .response(.malformed("a body began before the head had ended"))
      return -1
    }
    // libcurl does not deliver the body of a challenge to which it responds: this head is final.
    if isHeadHeld, let head, !deliver(head) { return -1 }
    if remote != nil, !mayWrite() { return isStopped || failure != nil ? -1 : bytes.count }
    guard case .takeBody = verdict else {
      droppedBytes += bytes.count
      guard droppedBytes <= Self.maximumDroppedBytes else {
        isStopped = true
        return -1
      }
      bandwidth?.didReceive(bytes.count)
      return bytes.count
    }
    do throws(TransferError) {
      switch try takeBody(bytes) {
      case .taken:
        bandwidth?.didReceive(bytes.count)
        pace(bytes.count)
        return bytes.count
      case .pause:
        isPaused = true
        return Int(TRANSFER_WRITEFUNC_PAUSE)
      case .stop:
        isStopped = true
        return -1
      }
    } catch {
      failure = error
      return -1
    }
  }

  func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    if isHeld { return Int(TRANSFER_READFUNC_PAUSE) }
    var buffer = buffer
    if let bandwidth {
      guard let room = bandwidth.room(self, in: buffer) else { return Int(TRANSFER_READFUNC_PAUSE) }
      buffer = room
    }
    do throws(TransferError) {
      if let pipe { return try read(pipe, into: buffer) }
      guard let reader else { return 0 }
      let count = try reader.read(into: buffer)
      guard count <= buffer.count else { return count }  // a pause
      movedAt = .now
      bandwidth?.didSend(count)
      bodyPosition = bodyPosition.saturatingSum(Int64(count))
      receiver.didSend(TransferProgress(completed: bodyPosition, total: reader.size))
      return count
    } catch {
      failure = error
      return Int(TRANSFER_READFUNC_ABORT)
    }
  }

  private func read(_ pipe: BodyPipe, into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
    guard let count = try pipe.read(into: buffer) else { return Int(TRANSFER_READFUNC_PAUSE) }
    movedAt = .now
    bandwidth?.didSend(count)
    let taken = pipe.taken
    receiver.didSend(TransferProgress(completed: taken, total: count == 0 ? taken : nil))
    return count
  }

  /// libcurl sends the body again: after a challenge or a 417, or because a reused connection was dead. In the last
  /// case it is unknown what the server did with the bytes that had been sent, even if some were missing: a request that
  /// must not be repeated (RFC 9110 §9.2.2) is not repeated.
  func seek(_ offset: Int64, _ origin: Int32) -> Int32 {
    guard origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
    if let pipe { return offset == pipe.taken ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL }
    guard let reader else { return CURL_SEEKFUNC_CANTSEEK }
    if request.upload == nil, reader.position > 0, head == nil, [.post, .patch].contains(request.method) {
      failure = .connection(.broken("it was closed before the response; the request may have been carried out"))
      return CURL_SEEKFUNC_FAIL
    }
    guard reader.seek(to: offset) else { return CURL_SEEKFUNC_FAIL }
    bodyPosition = offset
    return CURL_SEEKFUNC_OK
  }
}
