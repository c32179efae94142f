import CCurl

/// libcurl's global state, initialised once in a process (`curl_global_init(3)` is not always thread-safe).
enum CurlLibrary {
  private static let once: Void = {
    curl_global_init(Int(TRANSFER_GLOBAL_DEFAULT))
    ExitGate.install()
  }()

  static func initialize() { _ = once }

  /// `7.88.1`
  static let version = String(cString: transfer_version())
}
