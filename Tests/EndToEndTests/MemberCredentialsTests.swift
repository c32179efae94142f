import Foundation
import Glibc
import TestSupport
import Testing

/// Jobs of members use the members' credentials, never the service's.
@Suite(
  "credentials of members", .timeLimit(.minutes(5)),
  .enabled(if: SharedDaemon.isPossible, "\(SharedDaemon.requirement)"))
struct MemberCredentialsTests {
  /// A service with credentials of every kind, and a profile whose command creates a file when it runs.
  private static func daemon() async throws -> (SharedDaemon, mark: String) {
    let shared = try await SharedDaemon(
      environment: ["AWS_ACCESS_KEY_ID": "SERVICEKEY", "AWS_SECRET_ACCESS_KEY": "service-secret"])
    let mark = shared.directory(of: .service) + "/ran"
    let script = try shared.daemon.directory.file(
      "home/mint",
      text: """
        #!/bin/sh
        touch \(mark)
        echo '{"Version":1,"AccessKeyId":"MINTED","SecretAccessKey":"s"}'
        """)
    chmod(script, 0o755)
    let text = "[default]\ncredential_process = \(script)\n[profile work]\ncredential_process = \(script)\n"
    try shared.daemon.directory.file("home/.aws/config", text: text)
    try shared.daemon.directory.file("home/.netrc", text: "machine 127.0.0.1 login service password service-secret\n")
    return (shared, mark)
  }

  @Test(
    "a member's job cannot use the service's profiles, cloud keys, netrc or SSH keys; jobs of the owner and root can")
  func refused() async throws {
    let (shared, mark) = try await Self.daemon()
    let file = try shared.file("a.txt", "text", of: .alice)
    let jobs: [[String: Any]] = [
      ["kind": "upload", "source": file, "destination": "s3://bucket/key"],
      ["kind": "upload", "source": file, "destination": "s3://bucket/key", "profile": "work"],
      ["kind": "upload", "source": file, "destination": "s3://K:S@bucket/key", "profile": "work"],
      ["kind": "upload", "source": file, "destination": "http://127.0.0.1:9/bucket/key", "protocol": "s3"],
      ["kind": "upload", "source": file, "destination": "sftp://127.0.0.1:9/a"],
      ["kind": "upload", "source": file, "destination": "http://127.0.0.1:9/a", "credentials": "netrc"],
      ["source": "scp://me@127.0.0.1:9/a", "destination": shared.directory(of: .alice) + "/x"],
      [
        "source": "http://127.0.0.1:9/a", "destination": shared.directory(of: .alice) + "/y", "credentials": "netrc",
      ],
      ["source": "s3://bucket/key", "destination": shared.directory(of: .alice) + "/z"],
      ["source": "s3://K:S@bucket/key", "destination": shared.directory(of: .alice) + "/z", "profile": "work"],
      ["source": "s3://bucket/p/", "directory": shared.directory(of: .alice), "recursive": true],
      ["source": "sftp://127.0.0.1:9/p/", "directory": shared.directory(of: .alice), "kind": "listing"],
      ["source": "https://1.1.1.1/a", "destination": shared.directory(of: .alice) + "/u", "urlFrom": "env:HOME"],
      [
        "source": "https://1.1.1.1/a", "destination": shared.directory(of: .alice) + "/u",
        "urlFrom": "file:/etc/passwd",
      ],
      ["source": "https://1.1.1.1/a", "destination": shared.directory(of: .alice) + "/u", "urlFrom": "exec:id"],
    ]
    for job in jobs {
      var job = job
      job["paused"] = true
      let answer = try await shared.post(job, as: .alice)
      #expect(answer.status == 403 && answer.code == "permission", "\(job) \(answer)")
    }
    for person in [SharedDaemon.Person.service, .root] {
      for (number, job) in jobs.prefix(6).enumerated() {
        var job = job
        job["paused"] = true
        #expect(try await shared.post(job, as: person).status == 201, "\(number) \(person)")
      }
    }
    #expect(!FileManager.default.fileExists(atPath: mark))
  }

  @Test("a member's S3 upload is signed with the member's key, the owner's with the service's")
  func s3() async throws {
    let (shared, mark) = try await Self.daemon()
    let s3 = try ScriptedS3()
    let file = try shared.file("a.txt", "text", of: .alice)
    let job: (String) -> [String: Any] = { target in
      ["kind": "upload", "source": file, "destination": target, "endpoint": s3.server.url("")]
    }
    for (person, target, key) in [
      (SharedDaemon.Person.alice, "s3://ALICEKEY:secret@bucket/a", "ALICEKEY"),
      (.service, "s3://bucket/b", "SERVICEKEY"),
    ] {
      let before = s3.server.requests.count
      let answer = try await shared.post(job(target), as: person)
      #expect(answer.status == 201, "\(answer)")
      #expect(try await shared.ctl("wait", "\(answer.json["id"] ?? "")", as: person).status == 0)
      let signed = s3.server.requests.dropFirst(before).compactMap { $0.headers["Authorization"] }
      #expect(!signed.isEmpty && signed.allSatisfy { $0.contains("Credential=\(key)/") }, "\(signed)")
    }
    #expect(!FileManager.default.fileExists(atPath: mark))
  }

  @Test("a new URL does not make a member's job use the service's keys")
  func patch() async throws {
    let (shared, _) = try await Self.daemon()
    let file = try shared.file("a.txt", "text", of: .alice)
    let added = try await shared.post(
      ["kind": "upload", "source": file, "destination": "s3://K:S@bucket/a", "paused": true], as: .alice)
    let path = "/v1/jobs/\(added.json["id"] ?? "")"
    for url in ["s3://bucket/a", "sftp://127.0.0.1/a", "sftp://me@127.0.0.1/a"] {
      let answer = try await shared.curl(
        path, "-X", "PATCH", "--data-binary", "@-", input: Data(#"{"url":"\#(url)"}"#.utf8), as: .alice)
      #expect(answer.status == 403 && answer.code == "permission", "\(url) \(answer)")
    }
    let own = try await shared.curl(
      path, "-X", "PATCH", "--data-binary", "@-", input: Data(#"{"url":"s3://K2:S2@bucket/a"}"#.utf8), as: .alice)
    #expect(own.status == 200, "\(own)")
  }
}

/// SSH files in the state directory, which was the service's home.
@Suite("a home of its own", .timeLimit(.minutes(5))) struct FormerHomeDaemonTests {
  @Test("keys and known hosts of the former home stay in use, which is logged once")
  func formerHome() async throws {
    let server = try await SSHServer()
    let payload = Payload(size: 300_000, seed: 8)
    try payload.write(to: server.root + "/a.iso")
    let daemon = try await Daemon(isStarted: false)
    try daemon.directory.directory("state/.ssh")
    chmod(daemon.stateDirectory, 0o700)
    let files = FileManager.default
    try files.copyItem(atPath: server.knownHosts, toPath: daemon.statePath(".ssh/known_hosts"))
    try files.copyItem(atPath: server.privateKey, toPath: daemon.statePath(".ssh/id_ed25519"))
    try await daemon.start()
    #expect(daemon.log.contains("former home directory"))
    #expect(daemon.log.contains(daemon.statePath(".ssh/known_hosts")))
    #expect(daemon.log.contains(daemon.statePath(".ssh/id_ed25519")))
    let id = try await daemon.add(server.url("sftp", server.root + "/a.iso"))
    #expect(try await daemon.finished(id).state == "completed", "\(daemon.log)")
    try await daemon.restart()
    #expect(!daemon.log.contains("former home directory"))
    let again = try await daemon.add(server.url("sftp", server.root + "/a.iso"), "-o", "b.iso")
    #expect(try await daemon.finished(again).state == "completed", "\(daemon.log)")
    withExtendedLifetime(server) {}
  }
}
