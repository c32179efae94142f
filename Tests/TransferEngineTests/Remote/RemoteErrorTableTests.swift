import CCurl
import Testing

@testable import TransferEngine

/// Every code of libcurl-errors(3) for FTP, SFTP and SCP; `CurlErrorTests` has the table for HTTP.
@Suite struct RemoteErrorTableTests {
  /// The code, its error case for FTP and for SFTP without a reply, and whether a retry can help. Codes that are not
  /// in this table have the same error case as for HTTP.
  static let codes: [(Int, ftp: String, sftp: String, Bool)] = [
    (1, "unsupportedScheme", "unsupportedScheme", false), (2, "connection.broken", "connection.broken", true),
    (9, "remote.missing", "remote.accessDenied", false), (10, "remote.refused", "remote.refused", false),
    (11, "remote.refused", "remote.refused", false), (12, "connection.stalled", "connection.stalled", true),
    (13, "remote.refused", "remote.refused", false), (14, "remote.refused", "remote.refused", false),
    (15, "remote.refused", "remote.refused", false), (17, "remote.refused", "remote.refused", false),
    (19, "remote.refused", "remote.refused", false), (21, "remote.refused", "remote.refused", false),
    (23, "connection.broken", "connection.broken", true), (25, "remote.refused", "remote.refused", false),
    (30, "remote.refused", "remote.refused", false), (31, "remote.cannotResume", "remote.cannotResume", true),
    (36, "remote.cannotResume", "remote.cannotResume", true), (61, "connection.broken", "connection.broken", true),
    (64, "connection.tls", "connection.tls", false), (67, "remote.loginDenied", "remote.loginDenied", false),
    (70, "remote.storageFull", "remote.storageFull", true), (73, "remote.exists", "remote.exists", false),
    (78, "remote.missing", "remote.missing", false), (79, "connection.broken", "connection.broken", true),
    (84, "remote.refused", "remote.refused", false), (87, "remote.refused", "remote.refused", false),
  ]

  @Test(
    "every code has a meaning, a text, and a reason to retry or not", arguments: 1...102,
    ["ftp", "sftp", "scp", "ftps"])
  func everyCode(_ code: Int, _ scheme: String) throws {
    let error = try RemoteDecisionTests.translate(CURLcode(UInt32(code)), 0, "", scheme: scheme)
    if let (_, ftp, sftp, isWorthRetrying) = Self.codes.first(where: { $0.0 == code }) {
      #expect(Self.name(of: error) == (scheme.hasPrefix("ftp") ? ftp : sftp))
      #expect(error.isTransient == isWorthRetrying)
    } else if code != 8 {
      let other = CurlError.translate(
        CURLcode(UInt32(code)), host: "h:21", systemError: 0, received: 0, isConnected: true)
      #expect("\(error)" == "\(other)")
      #expect(error.isTransient == other.isTransient)
    }
    #expect(!"\(error)".isEmpty)
    #expect(error.retryAdvice.isWorthRetrying == error.isTransient)
    #expect(error.retryAdvice.reason.count > 10)
  }

  private static func name(of error: TransferError) -> String {
    func label(_ value: Any) -> String { Mirror(reflecting: value).children.first?.label ?? "\(value)" }
    switch error {
    case .unsupportedScheme: return "unsupportedScheme"
    case .connection(.stalled): return "connection.stalled"
    case .connection(let failure): return "connection." + label(failure)
    case .remote(let failure): return "remote." + label(failure)
    default: return "\(error)"
    }
  }

  @Test(
    "errors of file servers and uploads have retry advice",
    arguments: [
      (TransferError.remote(.busy(host: "h", reply: "")), "temporary"),
      (.remote(.storageFull(host: "h", reply: "")), "space later"), (.remote(.missing(path: "p", reply: "")), "name"),
      (.remote(.loginDenied(host: "h", reply: "")), "password"), (.remote(.cannotResume(reply: "")), "whole file"),
      (.upload(.outcomeUnknown), "twice"), (.upload(.gone), "new upload"),
      (.source(.missing("p")), "file that is sent"),
      (.source(.keepsChanging("p")), "stop changing"),
    ])
  func reasons(_ error: TransferError, _ part: String) {
    #expect(error.retryAdvice.reason.contains(part))
    #expect(error.retryAdvice.isWorthRetrying == error.isTransient)
  }
}
