import CCurl
import Glibc

/// Version and cipher of a TLS connection, as OpenSSL names them.
struct TLSSession {
  /// `TLSv1.3`
  let version: String
  /// The IANA name: `TLS_AES_256_GCM_SHA384`
  let cipher: String?
}

extension Transfer {
  /// Looks once, at the first header line: later libcurl gives the connection back and knows no more (CURLINFO_TLS_SSL_PTR(3)).
  func noteTLS() {
    guard tls == nil, !request.url.hasPrefix("http:"), let openSSL = OpenSSL.shared else { return }
    tls = transfer_openssl_session(handle.pointer).flatMap(openSSL.session)
  }
}

/// The four functions of OpenSSL that tell about a session.
///
/// They are looked up in the process instead of being linked: libcurl has OpenSSL with it, and the engine needs neither its
/// headers nor another dependency. Where libcurl's TLS library is another, or the OpenSSL that is found is not libcurl's, the
/// session stays unknown. libcurl's verbose lines would tell too, but only of new connections, and cost every transfer.
private struct OpenSSL: Sendable {
  private typealias Text = @convention(c) (UnsafeRawPointer?) -> UnsafePointer<CChar>?
  private typealias Pointer = @convention(c) (UnsafeRawPointer?) -> UnsafeRawPointer?
  private typealias Version = @convention(c) (Int32) -> UnsafePointer<CChar>?

  private let version: Text
  private let currentCipher: Pointer
  private let cipherName: Text

  static let shared = OpenSSL()

  private init?() {
    func find<Function>(_ name: String, as type: Function.Type) -> Function? {
      // nil: RTLD_DEFAULT, the libraries that are loaded.
      dlsym(nil, name).map { unsafeBitCast($0, to: type) }
    }
    // `OpenSSL/3.0.17` and `OpenSSL 3.0.17 1 Jul 2025`: two that differ could differ in their structures.
    guard let library = find("OpenSSL_version", as: Version.self), let text = library(0).map({ String(cString: $0) }),
      let own = transfer_tls_library().map({ String(cString: $0) }),
      text.hasPrefix(own.replacing("/", with: " ") + " "),
      let version = find("SSL_get_version", as: Text.self),
      let currentCipher = find("SSL_get_current_cipher", as: Pointer.self),
      let cipherName = find("SSL_CIPHER_standard_name", as: Text.self)
    else { return nil }
    self.version = version
    self.currentCipher = currentCipher
    self.cipherName = cipherName
  }

  func session(_ pointer: UnsafeMutableRawPointer) -> TLSSession? {
    guard let version = version(pointer) else { return nil }
    return TLSSession(
      version: String(cString: version),
      cipher: currentCipher(pointer).flatMap { cipherName($0) }.map { String(cString: $0) })
  }
}
