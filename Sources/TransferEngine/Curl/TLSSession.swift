import CCurl
import Glibc
import HTTPTypes

/// The version and cipher of a TLS connection, with OpenSSL's names.
struct TLSSession {
  /// `TLSv1.3`
  let version: String
  /// The IANA name: `TLS_AES_256_GCM_SHA384`
  let cipher: String?
}

extension Transfer {
  /// Reads the session once, at the first header line: later libcurl no longer has the connection
  /// (CURLINFO_TLS_SSL_PTR(3)).
  func noteTLS() {
    guard tls == nil, !request.url.hasPrefix("http:"), let openSSL = OpenSSL.shared else { return }
    tls = transfer_openssl_session(handle.pointer).flatMap(openSSL.session)
  }
}

extension Transfer {
  /// Begins to watch how the connection ends, if a body ends with it.
  func watchEnd(of head: ResponseHead, _ context: UnsafeMutableRawPointer) {
    isEndAnnounced = nil
    endsWithConnection =
      remote == nil && request.method != .head && head.version.hasPrefix("HTTP/1") && !head.isSelfDelimiting
    guard endsWithConnection, request.url.hasPrefix("https:"), OpenSSL.shared != nil else { return }
    handle.set(CURLOPT_XFERINFODATA, context)
    handle.setProgress(CurlCallbacks.progress)
    handle.set(CURLOPT_NOPROGRESS, false)
  }

  /// Called after each reading, the last time when libcurl has seen the end of the connection and has not closed it
  /// yet. To libcurl an end with TLS's notice and one without it are the same.
  func noteEnd() {
    guard endsWithConnection, let session = transfer_openssl_session(handle.pointer) else { return }
    isEndAnnounced = OpenSSL.shared?.hasNotice(session)
  }
}

extension Transfer {
  /// Watches what libcurl reads from the connection that is used from now on.
  func watchReading(isNew: Bool) {
    guard remote == nil, request.url.hasPrefix("https:"), let reading,
      let session = transfer_openssl_session(handle.pointer)
    else { return }
    sessionAddress = session
    if isNew { OpenSSL.shared?.report(session, to: reading) }
  }

  /// The server's verdict on the client certificate. In TLS 1.3 it comes after the handshake, and to libcurl the
  /// connection just broke.
  func certificateFailure(_ code: CURLcode) -> TransferError? {
    guard code != CURLE_OK, currentHead == nil, let sessionAddress, let reason = reading?.verdict(on: sessionAddress)
    else { return nil }
    return .connection(.tls(host: request.host, reason: reason, isTransient: false))
  }
}

/// Functions of OpenSSL that describe a session, and end one.
///
/// They are looked up in the process at run time, because libcurl loads OpenSSL: the engine needs neither its headers
/// nor a dependency. If libcurl uses another TLS library, or the OpenSSL that is found is not libcurl's, the session
/// stays unknown. libcurl's verbose output also contains these facts, but only for new connections and at a cost for
/// every transfer.
private struct OpenSSL: Sendable {
  private typealias Text = @convention(c) (UnsafeRawPointer?) -> UnsafePointer<CChar>?
  private typealias Pointer = @convention(c) (UnsafeRawPointer?) -> UnsafeRawPointer?
  private typealias Version = @convention(c) (Int32) -> UnsafePointer<CChar>?
  private typealias Flags = @convention(c) (UnsafeRawPointer?) -> Int32
  private typealias SetFlags = @convention(c) (UnsafeMutableRawPointer?, Int32) -> Void
  private typealias Control =
    @convention(c) (UnsafeMutableRawPointer?, Int32, Int, UnsafeMutableRawPointer?) -> Int
  /// `SSL_set_msg_callback(3)`: whether it is sent, the version, the type, the bytes and their number, the session, and
  /// our context.
  private typealias Message =
    @convention(c) (
      Int32, Int32, Int32, UnsafeRawPointer?, Int, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
    ) -> Void
  private typealias SetMessage = @convention(c) (UnsafeMutableRawPointer?, Message?) -> Void

  private let version: Text
  private let currentCipher: Pointer
  private let cipherName: Text
  private let shutdown: Flags
  private let setShutdown: SetFlags
  private let control: Control
  private let setMessage: SetMessage

  static let shared = OpenSSL()

  private init?() {
    func find<Function>(_ name: String, as type: Function.Type) -> Function? {
      // nil is RTLD_DEFAULT: all loaded libraries.
      dlsym(nil, name).map { unsafeBitCast($0, to: type) }
    }
    // `OpenSSL/3.0.17` and `OpenSSL 3.0.17 1 Jul 2025`: different versions may have different structures.
    guard let library = find("OpenSSL_version", as: Version.self), let text = library(0).map({ String(cString: $0) }),
      let own = transfer_tls_library().map({ String(cString: $0) }),
      text.hasPrefix(own.replacing("/", with: " ") + " "),
      let version = find("SSL_get_version", as: Text.self),
      let currentCipher = find("SSL_get_current_cipher", as: Pointer.self),
      let cipherName = find("SSL_CIPHER_standard_name", as: Text.self),
      let shutdown = find("SSL_get_shutdown", as: Flags.self),
      let setShutdown = find("SSL_set_shutdown", as: SetFlags.self),
      let control = find("SSL_ctrl", as: Control.self),
      let setMessage = find("SSL_set_msg_callback", as: SetMessage.self)
    else { return nil }
    self.version = version
    self.currentCipher = currentCipher
    self.cipherName = cipherName
    self.shutdown = shutdown
    self.setShutdown = setShutdown
    self.control = control
    self.setMessage = setMessage
  }

  /// `SSL_RECEIVED_SHUTDOWN`
  private static let receivedShutdown: Int32 = 2

  /// Whether the peer's notice that it closes the connection has arrived.
  func hasNotice(_ pointer: UnsafeMutableRawPointer) -> Bool { shutdown(pointer) & Self.receivedShutdown != 0 }

  /// - Parameter reading: must live longer than the connection.
  func report(_ pointer: UnsafeMutableRawPointer, to reading: TLSReading) {
    reading.begin(pointer)
    _ = control(pointer, 16, 0, Unmanaged.passUnretained(reading).toOpaque())  // SSL_CTRL_SET_MSG_CALLBACK_ARG
    setMessage(pointer, Self.didRead)
  }

  private static let didRead: Message = { isSent, _, type, bytes, count, session, context in
    guard isSent == 0, let bytes, let session, let context else { return }
    let reading = Unmanaged<TLSReading>.fromOpaque(context).takeUnretainedValue()
    switch type {
    case 256:  // SSL3_RT_HEADER: a record begins. After a notice, real or not, reading ends.
      if !reading.take() { OpenSSL.shared?.setShutdown(session, OpenSSL.receivedShutdown) }
    case 21 where count == 2:  // SSL3_RT_ALERT: the level and the number
      if bytes.load(as: UInt8.self) == 2 { reading.end(session, by: bytes.load(fromByteOffset: 1, as: UInt8.self)) }
    default: break
    }
  }

  func session(_ pointer: UnsafeMutableRawPointer) -> TLSSession? {
    guard let version = version(pointer) else { return nil }
    return TLSSession(
      version: String(cString: version),
      cipher: currentCipher(pointer).flatMap { cipherName($0) }.map { String(cString: $0) })
  }
}
