import Foundation
import TestSupport
import Testing

/// Downloads from FTP and SSH servers.
@Suite("ftp, sftp and scp", .timeLimit(.minutes(5))) struct FileServerTests {
  /// The bytes that a kill may cost: those without a record, the overlap, and those in the buffers.
  static let refetched: Int64 = 3 << 20

  private func daemon(_ server: SSHServer) async throws -> Daemon {
    try await Daemon(
      environment: [
        "TRANSFERD_SSH_KNOWN_HOSTS": server.knownHosts, "TRANSFERD_SSH_PRIVATE_KEY": server.privateKey,
      ])
  }

  @Test("an SFTP download that is killed three times resumes each time")
  func sftpKills() async throws {
    let payload = Payload(size: 24 << 20, seed: 21)
    let server = try await SSHServer()
    try payload.write(to: server.root + "/a.iso")
    let daemon = try await daemon(server)
    let id = try await daemon.add(
      server.url("sftp", server.root + "/a.iso"), "--limit-rate", "1M", "--checksum", "sha-256=\(payload.sha256)")
    var kept: Int64 = 0
    for _ in 0..<3 {
      try await daemon.waitForParts(holding: kept + 1 << 20)
      try await daemon.kill9()
      let now = try daemon.partSize
      #expect(now > kept)
      kept = now
      try await daemon.start()
    }
    #expect(try await daemon.ctl("set", id, "--limit-rate", "1G").status == 0)
    let job = try await daemon.finished(id)
    #expect(job.state == "completed" && job.bytesTotal == payload.size)
    #expect(try sha256(ofFile: daemon.downloaded("a.iso")) == payload.sha256)
    #expect(try daemon.fileNames == ["a.iso"])
    withExtendedLifetime(server) {}
  }

  @Test("an FTP download that is killed resumes with REST")
  func ftpKill() async throws {
    let payload = Payload(size: 12 << 20, seed: 22)
    var options = FTPServer.Options()
    options.bytesPerSecond = 1 << 20
    let server = try await FTPServer(options)
    try payload.write(to: server.root + "/a.iso")
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a.iso"))
    try await daemon.waitForParts(holding: 5 << 20)
    try await daemon.kill9()
    let kept = try daemon.partSize
    try await daemon.start()
    let job = try await daemon.finished(id)
    #expect(job.state == "completed")
    #expect(try sha256(ofFile: daemon.downloaded("a.iso")) == payload.sha256)
    try await server.wait(for: "CMD REST \(kept - 64 * 1024)")
    // A restart from byte 0 would transfer all earlier bytes again.
    #expect(server.sent.reduce(0, +) < payload.size + kept)
    // The password is not shown.
    for command in [["show", id], ["status", "--format", "json"], ["events", id], ["export", "--all"]] {
      #expect(!(try await daemon.run(command).stdout).contains("secret"), "\(command)")
    }
    #expect(!daemon.log.contains("secret"))
  }

  @Test("FTP over TLS and SCP work by their schemes")
  func others() async throws {
    let payload = Payload(size: 3 << 20, seed: 23)
    let certificates = try await TestCertificates()
    let ssh = try await SSHServer()
    try payload.write(to: ssh.root + "/a")
    var urls = [("scp", ssh.url("scp", ssh.root + "/a"))]
    var servers: [FTPServer] = []
    for (scheme, security) in [("ftpes", FTPServer.Options.Security.explicit), ("ftps", .implicit)] {
      var options = FTPServer.Options()
      options.security = security
      let server = try await FTPServer(options, certificates: certificates)
      try payload.write(to: server.root + "/a")
      urls.append((scheme, server.url("/a", scheme: scheme)))
      servers.append(server)
    }
    let daemon = try await Daemon(
      environment: [
        "TRANSFERD_SSH_KNOWN_HOSTS": ssh.knownHosts, "TRANSFERD_SSH_PRIVATE_KEY": ssh.privateKey,
        "TRANSFERD_CERTIFICATE_AUTHORITY_FILE": certificates.authority,
      ])
    for (name, url) in urls {
      let job = try await daemon.finished(daemon.add(url, "-o", name))
      #expect(job.state == "completed", "\(name): \(String(describing: job.error))")
      #expect(try sha256(ofFile: daemon.downloaded(name)) == payload.sha256)
    }
    withExtendedLifetime(servers) {}
  }

  @Test("missing, denied and untrusted files fail at once with the documented codes")
  func failures() async throws {
    let (ssh, ftp) = (try await SSHServer(), try await FTPServer())
    try Payload(size: 10).write(to: ssh.root + "/a")
    let daemon = try await daemon(ssh)
    let stranger = try await Daemon()
    for (daemon, url, code) in [
      (daemon, ssh.url("sftp", ssh.root + "/none"), "source-missing"),
      (daemon, ftp.url("/none/x"), "source-missing"),
      (daemon, "ftp://user:wrong@127.0.0.1:\(ftp.port)/a", "permission"),
      (stranger, ssh.url("sftp", ssh.root + "/a"), "tls"),
    ] {
      let job = try await daemon.finished(daemon.add(url, "-o", "x"))
      #expect(job.state == "failed" && job.attempt == 1, "\(url)")
      #expect(job.error?.code == code, "\(url): \(String(describing: job.error))")
      #expect(job.error?.transient == false)
      #expect(job.error?.message.contains("wrong") == false)
    }
    let unknown = try #require(try await stranger.jobs().first?.error)
    #expect(try await unknown.message.contains(ssh.fingerprint()))
    #expect(unknown.message.contains("ssh-keyscan"))
    withExtendedLifetime(ftp) {}
  }

  @Test("directories and local files are refused when they are added")
  func refused() async throws {
    let daemon = try await Daemon()
    for url in ["sftp://h/dir/", "ftp://h/", "ftp://h/a;type=a", "ftp://h/a%0Ab", "file:///etc/passwd"] {
      let result = try await daemon.ctl("add", url, "-o", "x")
      #expect(result.status != 0 && result.stdout == "" && result.stderr != "", "\(url)")
    }
    let answer = try await daemon.ctl("status", "--format", "json")
    #expect(answer.stdout.trimmingCharacters(in: .whitespacesAndNewlines) == "[]")
  }
}
