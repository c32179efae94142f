import Testing
import TransferAPI
import TransferEngine

@testable import transferd

@Suite struct PrivilegeTests {
  private static let member: UInt32 = 41_002

  /// A job with the field's privileged value; `nil` for what the file system decides (`FileOwnership`).
  private func sample(_ field: PrivilegedField) throws -> NewJob? {
    var download = NewJob(source: "https://host/a")
    download.destination = "/outside/a"
    var upload = NewJob(uploading: "/outside/a", to: "https://host/a")
    var relay = NewJob(source: "https://host/a")
    (relay.kind, relay.destination) = (.relay, "https://other/a")
    switch (field.name, field.privilege) {
    case ("source", .anyPath): return upload
    case ("destination", .anyPath): return download
    case ("directory", .anyPath):
      (download.destination, download.directory) = (nil, "/outside")
      return download
    case ("partDir", .anyPath):
      download.options.download.partDir = "/outside/parts"
      return download
    case ("onSuccess", .anyPath): upload.options.onSuccess = .move(to: "/outside")
    case ("onSuccess", .filesOfOthers): return nil
    case ("source", .anyAddress):
      download.source = "http://127.0.0.1/a"
      return download
    case ("destination", .anyAddress): upload.destination = "http://127.0.0.1/a"
    case ("endpoint", .anyAddress):
      upload.destination = "s3://K:S@bucket/a"
      upload.options.s3.endpoint = "http://127.0.0.1"
    case ("collection", .anyAddress):
      upload.destination = "http://127.0.0.1/c/a"
      upload.options.upload.collection = "http://127.0.0.1/c/"
    case ("source", .serviceCredentials):
      download.source = "sftp://host/a"
      return download
    case ("destination", .serviceCredentials): upload.destination = "s3://bucket/a"
    case ("thenUpload", .anyAddress):
      relay.destination = "http://127.0.0.1/a"
      return relay
    case ("thenUpload", .serviceCredentials):
      relay.destination = "s3://bucket/a"
      return relay
    case ("targetCredentials", let privilege):
      let references: [Privilege: SecretReference] = [
        .netrcReference: .netrc, .environmentReference: .environment("TOKEN"), .fileReference: .file("/key"),
        .commandReference: .command("pass"),
      ]
      relay.options.relay.targetCredentials = references[privilege]
      return relay
    case ("ca", .anyPath): upload.options.network.ca = "/outside/ca.pem"
    case ("cert", .anyPath): upload.options.network.cert = "/outside/cert.pem"
    case ("certKey", .anyPath):
      upload.options.network.cert = "/outside/cert.pem"
      upload.options.network.certKey = "/outside/key.pem"
    case ("cookies", .anyPath): upload.options.network.cookies = "/outside/cookies.txt"
    case ("proxy", .route): upload.options.network.proxy = "http://proxy.example:3128"
    case ("proxyCredentials", .route):
      upload.options.network.proxy = "http://proxy.example:3128"
      upload.options.network.proxyCredentials = .netrc
    case ("resolve", .route): upload.options.network.resolve = ["host:443:93.184.216.34"]
    case ("insecure", .route): upload.options.network.insecure = true
    case ("interface", .route): upload.options.network.interface = "eth0"
    case ("profile", .profile):
      upload.destination = "s3://K:S@bucket/a"
      upload.options.s3.profile = "work"
    case ("credentials", .netrcReference): upload.options.credentials = .netrc
    case ("credentials", .environmentReference): upload.options.credentials = .environment("TOKEN")
    case ("credentials", .fileReference): upload.options.credentials = .file("/key")
    case ("credentials", .commandReference): upload.options.credentials = .command("pass")
    case ("urlFrom", let privilege):
      download.destination = "/a"
      let references: [Privilege: SecretReference] = [
        .environmentReference: .environment("URL"), .fileReference: .file("/url"), .commandReference: .command("mint"),
      ]
      download.options.download.urlFrom = references[privilege]
      return download
    case ("secretHeaders", .environmentReference):
      upload.options.secretHeaders = ["X-Key": try SecretHeader(parsing: "env:TOKEN")]
    case ("secretHeaders", .fileReference):
      upload.options.secretHeaders = ["X-Key": try SecretHeader(parsing: "file:/key")]
    case ("secretHeaders", .commandReference):
      upload.options.secretHeaders = ["X-Key": try SecretHeader(parsing: "exec:pass")]
    default: Issue.record("no sample for \(field)")
    }
    return upload
  }

  /// The code of the first check that refuses the job; `nil` if all allow it.
  private func refusal(_ job: NewJob, _ caller: Caller, daemon: UInt32, withPaths: Bool) -> Problem.Code? {
    do throws(Problem) {
      let spec = try JobValidation(caller: caller).spec(job)
      try NetworkRules(daemon: daemon).check(spec.userURLs, of: spec.owner)
    } catch {
      return error.code
    }
    guard withPaths else { return nil }
    let paths = PathPolicy(daemon: daemon, state: "/state", socket: "/run/s", runtimeDirectory: nil)
    // No roots are configured: a rule with a list of roots allows no path at all.
    return paths.rules(for: caller.uid, job.kind == .upload ? .read : .write).roots == nil ? nil : .permission
  }

  @Test("a job with a privileged field is accepted from those who hold the privilege, and from no others")
  func fields() throws {
    let daemon: UInt32 = 1000
    let callers = [Caller(uid: daemon, daemon: daemon), .root, .member(Self.member)]
    for field in [PrivilegedField].newJob {
      guard let job = try sample(field) else { continue }
      for caller in callers {
        let isAllowed = field.privilege.holders.contains(caller.role)
        let refusal = refusal(job, caller, daemon: daemon, withPaths: field.privilege == .anyPath)
        #expect(refusal == (isAllowed ? nil : .permission), "\(field) \(caller)")
      }
    }
  }

  @Test("members have no privilege, the daemon's user has all, and root has all but commands")
  func roles() {
    for privilege in Privilege.allCases {
      #expect(Caller.owner.has(privilege) && !Caller.member(Self.member).has(privilege), "\(privilege)")
      #expect(Caller.root.has(privilege) == (privilege != .commandReference), "\(privilege)")
    }
  }
}
