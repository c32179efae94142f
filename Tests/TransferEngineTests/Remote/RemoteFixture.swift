import Foundation
import Glibc
import TestSupport
import Testing

@testable import TransferEngine

extension DownloadFixture {
  /// A fixture whose session trusts the host key of a test's server.
  static func ssh(_ server: SSHServer, _ change: (inout SSHConfiguration) -> Void = { _ in }) throws -> DownloadFixture
  {
    try DownloadFixture(Session(configuration: .ssh(server, change)), keeping: [server])
  }
}

extension SessionConfiguration {
  static func ssh(_ server: SSHServer, _ change: (inout SSHConfiguration) -> Void = { _ in }) -> SessionConfiguration {
    var configuration = SessionConfiguration()
    configuration.ssh = SSHConfiguration(
      knownHostsFiles: [server.knownHosts], privateKeyFile: server.privateKey, usesAgent: false)
    change(&configuration.ssh)
    return configuration
  }

  static func tls(_ certificates: TestCertificates?, _ security: FTPSecurity = .none) -> SessionConfiguration {
    var configuration = SessionConfiguration()
    configuration.certificateAuthorityFile = certificates?.authority
    configuration.ftpSecurity = security
    return configuration
  }
}

extension TransferRequest {
  static func to(_ url: String, stallTimeout: Duration = .seconds(60)) throws -> TransferRequest {
    TransferRequest(url: try RequestURL(url), stallTimeout: stallTimeout)
  }
}

/// Sets a file's modification time, in seconds since 1970.
func setModificationTime(_ path: String, _ seconds: Int) {
  var times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
  utimensat(AT_FDCWD, path, &times, 0)
}

/// Changes one byte of a file and keeps its time.
func spoil(_ path: String, at offset: Int64, keepingTime seconds: Int) throws {
  let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
  try file.seek(toOffset: UInt64(offset))
  let byte = try #require(try file.read(upToCount: 1)?.first)
  try file.seek(toOffset: UInt64(offset))
  try file.write(contentsOf: Data([byte ^ 0xFF]))
  try file.close()
  setModificationTime(path, seconds)
}
