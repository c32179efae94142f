import Foundation
import Glibc
import ResumableServer
import TestSupport

/// A real server, a daemon that can upload to it, and access to the uploaded files.
final class UploadPeer: Sendable {
  enum Kind: String, CaseIterable, Sendable, CustomStringConvertible {
    case plain, nginxDAV, wsgidav, s3, tus, resumable, sftp, scp, ftp, ftps
    var description: String { rawValue }

    /// Whether an attempt resumes the bytes of an earlier one.
    var resumes: Bool { [.s3, .tus, .resumable, .sftp, .ftp, .ftps].contains(self) }
  }

  let kind: Kind
  let daemon: Daemon
  /// The URL of the target directory, with a slash at its end.
  let collection: String
  /// The arguments of `upload` besides the target.
  let options: [String]
  /// The server's directory of files.
  let files: String
  private let server: any Sendable
  /// The number of bytes from clients, if it can be counted.
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

  /// An HTTP server behind a proxy that counts bytes.
  private convenience init(
    _ kind: Kind, _ server: any Sendable, port: UInt16, path: String = "/in/", files: String, options: [String]
  ) async throws {
    let proxy = try DroppingProxy(to: port)
    self.init(
      kind, try await Daemon(), server, "http://127.0.0.1:\(proxy.port)\(path)", files, options, proxy)
  }

  private convenience init(nginx kind: Kind, _ methods: String, _ options: [String]) async throws {
    // The target of a MOVE contains the port: nginx must get its own.
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
    // SCP creates no directories.
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

  /// The number of bytes from clients; 0 if they are not counted.
  var bytesReceived: Int64 { counted() }

  /// Whether the server has a file with this name and exactly these bytes. A tus server chooses the name itself.
  func holds(_ name: String, _ payload: Payload) throws -> Bool {
    guard kind == .tus else { return try sha256(ofFile: files + "/" + name) == payload.sha256 }
    return try finalNames().contains { try sha256(ofFile: files + "/" + $0) == payload.sha256 }
  }

  /// The server's files, without the metadata that some servers keep beside them.
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
