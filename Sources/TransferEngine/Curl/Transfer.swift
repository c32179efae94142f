import CCurl
import Glibc
import HTTPTypes
import WireValues

/// One libcurl easy handle at work, from `configure` to `close`. Lives on the transfer loop's thread.
final class Transfer {
  let id: TransferID
  let handle: EasyHandle
  let continuation: CheckedContinuation<TransferOutcome, Never>
  let request: WireRequest
  let receiver: any TransferReceiver
  private var parser: ResponseHeadParser
  private var head: ResponseHead?
  var currentHead: ResponseHead? { head }
  var verdict = HeadVerdict.takeBody
  /// The head may be a challenge that libcurl answers; the receiver has not seen it.
  private var isHeadHeld = false
  private var droppedBytes = 0
  /// Undoes the body's coding; there from the first byte on.
  var decoder: ContentDecoder?
  /// The receiver's own error, which says more than libcurl's "write error".
  var failure: TransferError?
  var isStopped = false
  var reader: (any BodyReading)?
  /// The body, where it is a stream.
  private(set) var pipe: BodyPipe?
  /// Body bytes that libcurl has taken of what it sends now.
  private var bodyPosition: Int64 = 0
  /// Its request is suspended: nothing is taken and nothing is given.
  var isHeld = false
  /// What a transfer by another protocol than HTTP keeps.
  var remote: RemoteTransferState?
  /// How the connection is protected; known while the transfer has it.
  var tls: TLSSession?
  /// An address of the host that may not be connected to.
  var refusedAddress: IPAddress?
  /// Another one was, so that a failure is not about the address.
  var isAddressPermitted = false

  /// An unwanted body is read to its end up to this size; a longer one costs the connection.
  private static let maximumDroppedBytes = 64 * 1024

  init(
    id: TransferID, request: WireRequest, receiver: any TransferReceiver, handle: EasyHandle,
    _ continuation: CheckedContinuation<TransferOutcome, Never>
  ) {
    self.id = id
    self.request = request
    self.receiver = receiver
    self.handle = handle
    self.continuation = continuation
    parser = ResponseHeadParser(
      HeadLimits(totalBytes: request.maximumHeadBytes, interims: request.maximumInterimResponses))
  }

  /// Sets every option. The reasons of the less obvious ones stand beside them.
  /// - Throws: `.file` where the body cannot be read.
  func configure() throws(TransferError) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    handle.set(CURLOPT_URL, request.url)
    handle.set(CURLOPT_NOSIGNAL, true)  // signals and threads do not mix
    handle.set(CURLOPT_NOPROGRESS, true)  // bytes are counted in the write callback
    handle.set(CURLOPT_FOLLOWLOCATION, false)  // redirects are ours: each hop is a new transfer
    handle.set(CURLOPT_PROTOCOLS_STR, request.remote?.scheme ?? "http,https")
    handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
    try configureProxy()
    handle.set(CURLOPT_BUFFERSIZE, min(request.bufferSize, receiver.bufferSize))
    handle.set(CURLOPT_TCP_KEEPALIVE, true)
    handle.set(CURLOPT_CONNECTTIMEOUT_MS, max(1, request.connectTimeout.wholeMilliseconds))  // 0 would mean 300 s
    if let stall = request.stallTimeout {
      handle.set(CURLOPT_LOW_SPEED_LIMIT, request.stallSpeed)
      handle.set(CURLOPT_LOW_SPEED_TIME, max(1, stall.wholeSecondsRoundedUp))
    }
    if let rate = request.limitRate {
      handle.set(request.upload == nil ? CURLOPT_MAX_RECV_SPEED_LARGE : CURLOPT_MAX_SEND_SPEED_LARGE, offset: rate)
    }
    if request.needsFreshConnection { handle.set(CURLOPT_FRESH_CONNECT, true) }
    if let path = request.unixSocketPath { handle.set(CURLOPT_UNIX_SOCKET_PATH, path) }
    configureCredential()
    handle.set(CURLOPT_HEADERDATA, context)
    handle.set(CURLOPT_HEADERFUNCTION, CurlCallbacks.header)
    handle.set(CURLOPT_WRITEDATA, context)
    handle.set(CURLOPT_WRITEFUNCTION, CurlCallbacks.write)
    configureAddresses(context)
    try configureTrust(context)
    if let remote = request.remote { return try configure(remote, context) }
    try configureMethod(context)
    var lines = request.headers.map(Self.line)
    if !expectsContinue { lines.append("Expect:") }
    handle.set(CURLOPT_HTTPHEADER, list: lines)
  }

  private func configureMethod(_ context: UnsafeMutableRawPointer) throws(TransferError) {
    if try openBody() {
      handle.set(CURLOPT_UPLOAD, true)
      handle.set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
      // HTTP/2 uploads spin in libcurl below 8.1.1.
      handle.set(CURLOPT_HTTP_VERSION, TRANSFER_HTTP_VERSION_1_1)
      // Fewer reads and writes of what is large; the default, 64 KiB, holds what is small.
      if request.limitRate != nil || (reader?.size ?? 0) > 1 << 16 {
        handle.set(CURLOPT_UPLOAD_BUFFERSIZE, request.bufferSize)
      }
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
      // Better to wait for a connection that may carry many transfers (HTTP/2) than to make another.
      if request.url.hasPrefix("https://") { handle.set(CURLOPT_PIPEWAIT, true) }
    } else if request.method == .post {
      // A POST without a body says so: `Content-Length: 0`.
      handle.set(CURLOPT_POST, true)
      handle.set(CURLOPT_POSTFIELDSIZE, 0)
      handle.set(CURLOPT_COPYPOSTFIELDS, "")
    } else {
      handle.set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
    }
  }

  /// Opens what is sent: pieces, a body, or a stream, whose length nobody knows and which goes out in chunks.
  /// - Returns: whether there is something.
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

  /// Whether the body waits for the server to ask for it, 1 s at most: as libcurl does for bodies above 1 MiB
  /// (`EXPECT_100_THRESHOLD`), so that a refusal does not cost all of it (RFC 9110 §10.1.1). It asks again without after a
  /// 417.
  private var expectsContinue: Bool {
    guard !request.headers.contains(.expect) else { return false }
    return reader.map { $0.size > 1 << 20 } ?? (pipe != nil)
  }

  /// libcurl's form: `Name;` sends an empty value, `Name:` would send none.
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
    let metrics = TransferMetrics(of: handle, tls: tls)
    if isHeadHeld, code == CURLE_OK, let head { _ = deliver(head) }
    if code == CURLE_OK { finishDecoding() }
    if let failure { return .failed(failure, head: head, metrics: metrics) }
    if isStopped || code == CURLE_OK { return .finished(head: head, metrics: metrics) }
    // Below 8.6 libcurl says so of a header line beyond its limit (`Curl_dyn_addn`); nothing else that large is taken
    // before the head is there.
    if code == CURLE_OUT_OF_MEMORY, head == nil {
      return .failed(.response(.headTooLarge(limit: CurlError.maximumLine)), head: nil, metrics: metrics)
    }
    if let error = proxyFailure(code) ?? trustFailure(code) { return .failed(error, head: head, metrics: metrics) }
    let error = CurlError.translate(
      code, host: request.host, systemError: Int32(handle.long(CURLINFO_OS_ERRNO)),
      received: metrics.bytesReceived, isConnected: handle.offset(CURLINFO_PRETRANSFER_TIME_T) > 0)
    return .failed(error, head: head, metrics: metrics)
  }

  // MARK: Called by libcurl

  /// Anything but the count given ends the transfer (`CURLOPT_HEADERFUNCTION(3)`).
  func header(_ line: UnsafeRawBufferPointer) -> Int {
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
    case .finished(let head):
      self.head = head
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

  /// False where the transfer must end.
  private func deliver(_ head: ResponseHead) -> Bool {
    isHeadHeld = false
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
    if isHeld { return Int(TRANSFER_WRITEFUNC_PAUSE) }
    // libcurl takes every line that begins with CR for the end of the head, whatever else is in it. Then nothing has decided
    // what becomes of the body.
    guard remote != nil || parser.isDone else {
      failure = .response(.malformed("a body began before the head had ended"))
      return -1
    }
    // libcurl keeps the body of a challenge that it answers to itself: this head is final.
    if isHeadHeld, let head, !deliver(head) { return -1 }
    if remote != nil, !mayWrite() { return isStopped || failure != nil ? -1 : bytes.count }
    guard case .takeBody = verdict else {
      droppedBytes += bytes.count
      guard droppedBytes <= Self.maximumDroppedBytes else {
        isStopped = true
        return -1
      }
      return bytes.count
    }
    do throws(TransferError) {
      switch try takeBody(bytes) {
      case .taken: return bytes.count
      case .pause: return Int(TRANSFER_WRITEFUNC_PAUSE)
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
    do throws(TransferError) {
      if let pipe { return try read(pipe, into: buffer) }
      guard let reader else { return 0 }
      let count = try reader.read(into: buffer)
      guard count <= buffer.count else { return count }  // a pause
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
    let taken = pipe.taken
    receiver.didSend(TransferProgress(completed: taken, total: count == 0 ? taken : nil))
    return count
  }

  /// libcurl sends the body again: for a challenge, for a 417, or because a kept connection turned out to be dead. In the
  /// last case nobody knows what the server did with a body that had gone out whole: what may not be repeated
  /// (RFC 9110 §9.2.2) is not.
  func seek(_ offset: Int64, _ origin: Int32) -> Int32 {
    guard origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
    if let pipe { return offset == pipe.taken ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL }
    guard let reader else { return CURL_SEEKFUNC_CANTSEEK }
    let isWhole = reader.position == reader.size && reader.size > 0
    if request.upload == nil, isWhole, head == nil, [.post, .patch].contains(request.method) {
      failure = .connection(.broken("it was closed before the answer; the request may have been carried out"))
      return CURL_SEEKFUNC_FAIL
    }
    guard reader.seek(to: offset) else { return CURL_SEEKFUNC_FAIL }
    bodyPosition = offset
    return CURL_SEEKFUNC_OK
  }
}

/// The C functions libcurl calls, on the loop's thread; each finds its `Transfer` and hands over.
enum CurlCallbacks {
  static let header: transfer_data_callback = { bytes, size, count, context in
    let transfer = Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
    // checked: libcurl counts the bytes of its own buffer
    return Int(bitPattern: UInt(bitPattern: transfer.header(.init(start: bytes, count: size * count))))
  }

  static let write: transfer_data_callback = { bytes, size, count, context in
    Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
      .write(.init(start: bytes, count: size * count))  // checked: libcurl counts the bytes of its own buffer
  }

  static let read: transfer_data_callback = { bytes, size, count, context in
    Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
      .read(.init(start: bytes, count: size * count))  // checked: libcurl counts the bytes of its own buffer
  }

  static let seek: transfer_seek_callback = { context, offset, origin in
    Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue().seek(Int64(offset), origin)
  }
}

extension Duration {
  /// Rounded down; the largest number of them where they do not fit.
  var wholeMilliseconds: Int {
    let (seconds, attoseconds) = components
    let whole = CheckedNumber(seconds) * 1000 + attoseconds / 1_000_000_000_000_000
    return whole.int ?? (seconds < 0 ? .min : .max)
  }

  /// For options of libcurl that know no fractions.
  var wholeSecondsRoundedUp: Int {
    (CheckedNumber(components.seconds) + (components.attoseconds > 0 ? 1 : 0)).int ?? .max
  }
}
