import Foundation
import Glibc

/// pyftpdlib on 127.0.0.1, plain or with TLS, with scripted faults; its commands are kept.
public final class FTPServer: Sendable {
  public struct Options: Sendable, Encodable {
    public enum Security: String, Sendable, Encodable {
      case plain
      /// `AUTH TLS`, and nothing without it.
      case explicit
      /// TLS from the first byte.
      case implicit
    }

    public enum Fault: String, Sendable, Encodable {
      /// Control and data connection break.
      case cut
      /// The data connection ends and the server says 226, as if that were all.
      case pretend
      /// The data connection ends and the server says 426.
      case abort
    }

    public var security = Security.plain
    public var user = "user"
    public var password = "secret"
    /// What happens to a download after `faultAfter` bytes, so many times.
    public var fault: Fault?
    public var faultAfter: Int64 = 0
    public var faultTimes = 1
    /// An upload is cut after so many bytes, `faultTimes` times.
    public var uploadFaultAfter: Int64?
    /// Commands that the server does not know.
    public var unknownCommands: [String] = []
    /// So many connections are told 421 first.
    public var busyTimes = 0
    /// What PASV says is the server's address.
    public var passiveAddress: String?
    /// Bytes a second.
    public var bytesPerSecond: Int?
    /// What a download that begins in the middle of a file is told, in the place of `150 …`.
    public var replyAfterRest: String?
    /// What a failed login is told.
    public var loginReply: String?
    fileprivate var root = ""
    fileprivate var certificate: String?
    fileprivate var key: String?

    public init() {}
  }

  /// The directory that is served.
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
    // Debian's python3, which has Debian's packages; another may stand before it on PATH.
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

  /// The commands that came, passwords left out.
  public var commands: [String] { lines("CMD ") }
  /// Bytes that each data connection to a client carried.
  public var sent: [Int64] { lines("SENT ").compactMap { Int64($0) } }

  /// Bytes that each data connection brought from a client.
  public var came: [Int64] { lines("CAME ").compactMap { Int64($0) } }

  /// Suspends until a line of the log begins so: `CMD QUIT`, `SENT`.
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
