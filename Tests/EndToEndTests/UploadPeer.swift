import Foundation
import Glibc
import ResumableServer
import TestSupport

/// A real server of some protocol, a daemon that may use it, and what the server was sent.
final class UploadPeer: Sendable {
  enum Kind: String, CaseIterable, Sendable, CustomStringConvertible {
    case plain, nginxDAV, wsgidav, s3, tus, resumable, sftp, scp, ftp, ftps
    var description: String { rawValue }

    /// Whether an attempt goes on from what an earlier one brought there.
    var resumes: Bool { [.s3, .tus, .resumable, .sftp, .ftp, .ftps].contains(self) }
  }

  let kind: Kind
  let daemon: Daemon
  /// The collection that files are brought to, with a slash at its end.
  let collection: String
  /// What `upload` is told beside the target.
  let options: [String]
  /// Where the server keeps the files.
  let files: String
  private let server: any Sendable
  /// Bytes from clients, as far as they can be counted.
  private let counted: @Sendable () -> Int64
  private let proxy: DroppingProxy?

  convenience init(_ kind: Kind) async throws {
    switch kind {
    case .plain: try await self.init(nginx: kind, "PUT DELETE MKCOL", ["--protocol", "plain"])
    case .nginxDAV: try await self.init(nginx: kind, "PUT DELETE MKCOL MOVE", ["--protocol", "webdav"])
    case .wsgidav:
      let peer = try await PythonPeer.webDAV()
      try await self.init(
        kind, peer, port: peer.port, files: peer.directory.path("www/in"), options: ["--protocol", "webdav"])
    case .s3:
      let peer = try await PythonPeer.nanio()
      let proxy = try DroppingProxy(to: peer.port)
      let keys = ["AWS_ACCESS_KEY_ID": S3Peer.accessKey, "AWS_SECRET_ACCESS_KEY": S3Peer.secretKey]
      self.init(
        kind, try await Daemon(environment: keys), peer, "s3://bucket/in/", peer.directory.path("data/bucket/in"),
        ["--endpoint", "http://127.0.0.1:\(proxy.port)"], proxy)
    case .tus:
      let peer = try await PythonPeer.tus()
      try await self.init(
        kind, peer, port: peer.port, path: "/files/", files: peer.directory.path("uploads"),
        options: ["--protocol", "tus"])
    case .resumable:
      let directory = try TemporaryDirectory()
      let server = try await ResumableServer(keepingIn: directory.path)
      self.init(
        kind, try await Daemon(), directory, server.url("/in/"), directory.path, ["--protocol", "resumable"], nil
      ) { server.bytesReceived }
    case .sftp, .scp: try await self.init(ssh: kind)
    case .ftp, .ftps: try await self.init(ftp: kind)
    }
  }

  private init(
    _ kind: Kind, _ daemon: Daemon, _ server: any Sendable, _ collection: String, _ files: String, _ options: [String],
    _ proxy: DroppingProxy?, counted: (@Sendable () -> Int64)? = nil
  ) {
    self.kind = kind
    self.daemon = daemon
    self.server = server
    self.collection = collection
    self.files = files
    self.options = options
    self.proxy = proxy
    self.counted = counted ?? { proxy?.connections.value.reduce(0) { $0 + $1.received } ?? 0 }
  }

  /// A server of HTTP behind a proxy that counts.
  private convenience init(
    _ kind: Kind, _ server: any Sendable, port: UInt16, path: String = "/in/", files: String, options: [String]
  ) async throws {
    let proxy = try DroppingProxy(to: port)
    self.init(
      kind, try await Daemon(), server, "http://127.0.0.1:\(proxy.port)\(path)", files, options, proxy)
  }

  private convenience init(nginx kind: Kind, _ methods: String, _ options: [String]) async throws {
    // The port stands in what a MOVE names: nginx must hear its own.
    let nginx = try await Nginx(.init(directives: "dav_methods \(methods); create_full_put_path on;"))
    self.init(kind, try await Daemon(), nginx, nginx.url("/in/"), nginx.root + "/in", options, nil)
  }

  private convenience init(ssh kind: Kind) async throws {
    let server = try await SSHServer()
    let proxy = try DroppingProxy(to: server.port)
    let hosts = try server.knownHosts(
      "[127.0.0.1]:\(proxy.port) \(try server.hostKey())\n", named: "through_proxy")
    let daemon = try await Daemon(
      environment: ["TRANSFERD_SSH_KNOWN_HOSTS": hosts, "TRANSFERD_SSH_PRIVATE_KEY": server.privateKey])
    // SCP makes no directories.
    if kind == .scp {
      try FileManager.default.createDirectory(atPath: server.root + "/in", withIntermediateDirectories: true)
    }
    self.init(
      kind, daemon, server, server.url(kind.rawValue, server.root + "/in/", port: proxy.port), server.root + "/in", [],
      proxy)
  }

  private convenience init(ftp kind: Kind) async throws {
    var options = FTPServer.Options()
    var certificates: TestCertificates?
    var environment: [String: String] = [:]
    if kind == .ftps {
      options.security = .implicit
      let made = try await TestCertificates()
      environment["TRANSFERD_CERTIFICATE_AUTHORITY_FILE"] = made.authority
      certificates = made
    }
    let server = try await FTPServer(options, certificates: certificates)
    self.init(
      kind, try await Daemon(environment: environment), server, server.url("/in/", scheme: kind.rawValue),
      server.root + "/in", [], nil
    ) { server.came.reduce(0, +) }
  }

  /// Bytes that clients sent; 0 where nobody counts.
  var bytesReceived: Int64 { counted() }

  /// Whether the server has a file of this name with exactly these bytes. A tus server names files itself.
  func holds(_ name: String, _ payload: Payload) throws -> Bool {
    guard kind == .tus else { return try sha256(ofFile: files + "/" + name) == payload.sha256 }
    return try finalNames().contains { try sha256(ofFile: files + "/" + $0) == payload.sha256 }
  }

  /// What the server holds, without the records some keep beside the files.
  func names() throws -> [String] {
    guard FileManager.default.fileExists(atPath: files) else { return [] }
    if kind == .tus { return try finalNames() }
    return try FileManager.default.contentsOfDirectory(atPath: files).sorted()
  }

  private func finalNames() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: files).filter { !$0.contains(".") }.sorted()
  }

  /// Adds an upload, and returns its id.
  func upload(_ path: String, _ more: String...) async throws -> String {
    let result = try await daemon.ctlLaunch(["upload", path, "--to", collection] + options + more).runSuccessfully()
    return result.lines.first ?? ""
  }
}
