import Foundation
import Glibc

/// A pyftpdlib server on 127.0.0.1, plain or with TLS, with scripted faults. It records its commands.
public final class FTPServer: Sendable {
  public struct Options: Sendable, Encodable {
    public enum Security: String, Sendable, Encodable {
      case plain
      /// TLS by `AUTH TLS`, which is required.
      case explicit
      /// TLS from the first byte.
      case implicit
    }

    public enum Fault: String, Sendable, Encodable {
      /// The control and the data connection are lost.
      case cut
      /// The data connection ends early and the server sends 226 as if the file were complete.
      case pretend
      /// The data connection ends early and the server sends 426.
      case abort
    }

    public var security = Security.plain
    public var user = "user"
    public var password = "secret"
    /// The fault of a download after `faultAfter` bytes, for the first `faultTimes` downloads.
    public var fault: Fault?
    public var faultAfter: Int64 = 0
    public var faultTimes = 1
    /// The number of bytes after which an upload is interrupted, for the first `faultTimes` uploads.
    public var uploadFaultAfter: Int64?
    /// Commands that the server does not know.
    public var unknownCommands: [String] = []
    /// The number of first connections that get 421.
    public var busyTimes = 0
    /// The server's address in the reply to PASV.
    public var passiveAddress: String?
    /// The rate limit in bytes per second.
    public var bytesPerSecond: Int?
    /// The reply to a download that starts in the middle of a file, instead of `150 …`.
    public var replyAfterRest: String?
    /// The reply to a failed login.
    public var loginReply: String?
    fileprivate var root = ""
    fileprivate var certificate: String?
    fileprivate var key: String?

    public init() {}
  }

  /// The served directory.
  public let root: String
  public let port: UInt16
  public let options: Options
  private let directory: TemporaryDirectory
  private let process: ChildProcess
  private let certificates: TestCertificates?

  /// - Parameter certificates: for TLS.
  public init(_ options: Options = Options(), certificates: TestCertificates? = nil) async throws {
    self.certificates = certificates
    directory = try TemporaryDirectory()
    root = try directory.directory("files")
    var options = options
    options.root = root
    options.certificate = certificates?.certificate
    options.key = certificates?.key
    self.options = options
    let script = try directory.file("ftpd.py", text: FTPServer.script)
    let settings = String(decoding: try JSONEncoder().encode(options), as: UTF8.self)
    // Use Debian's python3, which has Debian's packages; PATH may have another one first.
    let process = try ChildProcess(Launch("/usr/bin/python3", ["-u", script, settings]))
    do {
      try await process.waitForOutput("\n", timeout: .seconds(60))
    } catch {
      throw TestSupportError.failed(
        program: "pyftpdlib (install python3-pyftpdlib and python3-openssl)", reason: process.errorsSoFar)
    }
    guard let line = process.outputSoFar.split(separator: "\n").first, line.hasPrefix("READY "),
      let port = UInt16(line.dropFirst(6))
    else { throw TestSupportError.failed(program: "pyftpdlib", reason: process.errorsSoFar) }
    self.port = port
    self.process = process
  }

  deinit { process.signalGroup(SIGKILL) }

  /// The URL of a path, which begins with `/`; user and password included unless `user` is nil.
  public func url(_ path: String, scheme: String = "ftp", withCredentials: Bool = true) -> String {
    "\(scheme)://\(withCredentials ? "\(options.user):\(options.password)@" : "")127.0.0.1:\(port)\(path)"
  }

  /// The received commands without passwords.
  public var commands: [String] { lines("CMD ") }
  /// The number of bytes on each data connection to a client.
  public var sent: [Int64] { lines("SENT ").compactMap { Int64($0) } }

  /// The number of bytes on each data connection from a client.
  public var came: [Int64] { lines("CAME ").compactMap { Int64($0) } }

  /// Suspends until a line of the log has this prefix: `CMD QUIT`, `SENT`.
  public func wait(for line: String) async throws { try await process.waitForOutput("\n" + line) }

  private func lines(_ prefix: String) -> [String] {
    process.outputSoFar.split(separator: "\n").filter { $0.hasPrefix(prefix) }.map {
      String($0.dropFirst(prefix.count))
    }
  }

  public func stop() async throws {
    process.signalGroup(SIGKILL)
    _ = try await process.result()
  }
}
