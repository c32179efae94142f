import Foundation
import TestSupport
import Testing

@testable import TransferEngine

/// No password and no file is sent to an SSH server with a wrong host key.
@Suite(.timeLimit(.minutes(5))) struct HostKeyTests {
  static let payload = Payload(size: 100_000, seed: 2)

  private func download(
    _ server: SSHServer, _ change: (inout SSHConfiguration) -> Void
  ) async throws -> FileResponse {
    let fixture = try DownloadFixture.ssh(server, change)
    try Self.payload.write(to: server.root + "/a")
    return try await fixture.download(.to(server.url("sftp", server.root + "/a"))).response()
  }

  @Test("an unknown host is refused, and the error contains the fingerprint and a command to trust it")
  func unknown() async throws {
    let server = try await SSHServer()
    let empty = try server.knownHosts("", named: "empty")
    for file in [empty, "/nonexistent/known_hosts"] {
      let response = try await download(server) { $0.knownHostsFiles = [file] }
      guard case .remote(.hostKeyUnknown(_, _, _, let fingerprint, _))? = response.error else {
        Issue.record("\(String(describing: response.error))")
        continue
      }
      #expect(try await fingerprint == server.fingerprint())
      #expect(response.error?.isTransient == false)
      #expect("\(response.error!)".contains("ssh-keyscan -p \(server.port) -t ed25519 127.0.0.1 >> \(file)"))
    }
    #expect(!server.log.contains("Accepted"))
    #expect(try String(contentsOfFile: empty, encoding: .utf8) == "")
  }

  @Test("a host whose key changed is refused, also with acceptNew")
  func changed() async throws {
    let (server, other) = (try await SSHServer(), try await SSHServer())
    let file = try server.knownHosts("[127.0.0.1]:\(server.port) \(other.hostKey())\n", named: "changed")
    for policy in [SSHConfiguration.HostKeyPolicy.known, .acceptNew] {
      let response = try await download(server) {
        $0.knownHostsFiles = [file]
        $0.hostKeyPolicy = policy
      }
      guard case .remote(.hostKeyChanged(_, _, let fingerprint, let expectedBy))? = response.error else {
        Issue.record("\(String(describing: response.error))")
        continue
      }
      #expect(try await fingerprint == server.fingerprint())
      #expect(expectedBy.contains("\(file), line 1"))
      #expect(response.error?.isTransient == false)
    }
    #expect(!server.log.contains("Accepted"))
  }

  @Test("acceptNew trusts a new host and adds it to known_hosts once")
  func acceptNew() async throws {
    let server = try await SSHServer()
    let file = try server.knownHosts("h.test ssh-ed25519 AAAA no newline at the end", named: "new")
    for _ in 0..<2 {
      let response = try await download(server) {
        $0.knownHostsFiles = [file]
        $0.hostKeyPolicy = .acceptNew
      }
      #expect(response.error == nil)
    }
    let text = try String(contentsOfFile: file, encoding: .utf8)
    let line = "[127.0.0.1]:\(server.port) \(try server.hostKey())\n"
    #expect(text == "h.test ssh-ed25519 AAAA no newline at the end\n" + line)
    #expect(try await download(server) { $0.knownHostsFiles = [file] }.error == nil)
  }

  @Test("acceptNew refuses a new host if known_hosts cannot be written")
  func unwritable() async throws {
    let server = try await SSHServer()
    let response = try await download(server) {
      $0.knownHostsFiles = ["/proc/nowhere/known_hosts"]
      $0.hostKeyPolicy = .acceptNew
    }
    guard case .remote(.hostKeyRefused)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
  }

  @Test("a pinned fingerprint is enough, with or without its prefix and padding")
  func pinned() async throws {
    let server = try await SSHServer()
    let pin = try await server.fingerprint()
    for text in [pin, String(pin.dropFirst(7)), pin + "="] {
      let response = try await download(server) {
        $0.knownHostsFiles = []
        $0.hostKeyPolicy = .pinned(sha256: ["SHA256:AAAA", text])
      }
      #expect(response.error == nil, "\(text)")
    }
    let response = try await download(server) { $0.hostKeyPolicy = .pinned(sha256: ["SHA256:AAAA"]) }
    guard case .remote(.hostKeyChanged)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
  }

  @Test("the known one of several host keys is requested, also with hashed names and lines of other hosts")
  func keyTypes() async throws {
    // libssh2 before 1.11 supports RSA only with SHA-1, which must be enabled in OpenSSH.
    let server = try await SSHServer(
      .init(
        hostKeys: ["ecdsa", "ed25519", "rsa"],
        directives: "HostKeyAlgorithms ssh-ed25519,ecdsa-sha2-nistp256,ssh-rsa,rsa-sha2-512"))
    for type in ["ecdsa", "ed25519", "rsa"] {
      // The first hashed line has another host and another key type, which would mislead libcurl's own check.
      let key = try server.hostKey(type == "ed25519" ? "ecdsa" : "ed25519")
      let file = try server.knownHosts(
        "elsewhere.test \(key)\n[127.0.0.1]:\(server.port) \(try server.hostKey(type))\n", named: "kh_" + type)
      try await Launch(BuiltPrograms.system("ssh-keygen"), ["-H", "-f", file]).runSuccessfully()
      let response = try await download(server) { $0.knownHostsFiles = [file] }
      #expect(response.error == nil, "\(type)")
    }
  }

  @Test("a server that is known only by RSA is used, or refused permanently if libssh2 cannot")
  func onlyRSA() async throws {
    let server = try await SSHServer(.init(hostKeys: ["rsa"]))
    let response = try await download(server) { _ in }
    if let error = response.error {
      #expect(!error.isTransient)
      #expect("\(error)".contains("algorithm"))
    }
  }

  @Test("a revoked key is refused, even if another line trusts it")
  func revoked() async throws {
    let server = try await SSHServer()
    let line = "[127.0.0.1]:\(server.port) \(try server.hostKey())\n"
    let file = try server.knownHosts(line + "@revoked " + line, named: "revoked")
    let response = try await download(server) { $0.knownHostsFiles = [file] }
    guard case .remote(.hostKeyRefused(_, let reason))? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(reason.contains("line 2"))
  }

  @Test("a connection that one request trusts by its own pin is not used for another request")
  func isolation() async throws {
    let server = try await SSHServer()
    try Self.payload.write(to: server.root + "/a")
    let pin = try await server.fingerprint()
    let fixture = try DownloadFixture.ssh(server) { $0.knownHostsFiles = [] }
    var request = try TransferRequest.to(server.url("sftp", server.root + "/a"))
    request.ssh = SSHConfiguration(
      hostKeyPolicy: .pinned(sha256: [pin]), privateKeyFile: server.privateKey, usesAgent: false)
    #expect(try await fixture.download(request).response().error == nil)
    request.ssh = nil
    let response = try await fixture.download(request, options: .removePreviousFile).response()
    guard case .remote(.hostKeyUnknown)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
  }

  @Test("descriptions of the configuration contain no passphrase")
  func descriptions() {
    let configuration = SSHConfiguration(privateKeyFile: "/k", passphrase: "hunter2")
    var text = "\(configuration) \(String(reflecting: configuration))"
    dump(configuration, to: &text)
    dump([configuration], to: &text)
    #expect(!text.contains("hunter2"))
  }
}
