import Foundation
import TestSupport
import Testing
import TransferAPI

@testable import TransferEngine
@testable import transferd

/// The files of `ca`, `cert`, `certKey` and `cookies`.
@Suite struct ConnectionFilesTests {
  private func unusable(
    _ options: JobOptions.Network, rules: PathRules = .none
  ) -> ConnectionFiles.Unusable? {
    do throws(ConnectionFiles.Unusable) {
      _ = try ConnectionFiles(options, rules: rules)
      return nil
    } catch { return error }
  }

  private func options(_ change: (inout JobOptions.Network) throws -> Void) rethrows -> JobOptions.Network {
    var options = JobOptions.Network()
    try change(&options)
    return options
  }

  @Test("each file gives its part")
  func parts() async throws {
    let certificates = try await TestCertificates()
    let client = try await certificates.client()
    let directory = try TemporaryDirectory()
    let cookies = try directory.file("cookies", text: "h\tTRUE\t/\tFALSE\t0\ta\tb\n")
    let files = try ConnectionFiles(
      options {
        $0.ca = certificates.authority
        $0.cert = client.certificate
        $0.certKey = client.key
        $0.cookies = cookies
      }, rules: .none)
    let authority = try Certificate.certificates(inFile: certificates.authority)
    #expect(files.trust == TrustPolicy(authorities: .certificates(authority)))
    #expect(files.identity != nil && files.cookies == [Cookie(name: "a", value: "b", domain: "h")])
  }

  @Test("a file that is missing is unreadable, one that is forbidden not permitted, and a directory is no file")
  func unreadable() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.file("ca.pem", text: "x")
    #expect(unusable(options { $0.ca = directory.path("none") })?.reason == .unreadable)
    #expect(unusable(options { $0.cookies = directory.path })?.reason == .invalid)
    let rules = PathRules(roots: ["/nowhere"], outsideReason: "it is outside")
    for name in ["ca.pem", "none"] {
      let refused = unusable(options { $0.ca = directory.path(name) }, rules: rules)
      #expect(refused?.reason == .permission && refused?.description.contains("it is outside") == true)
    }
    #expect(unusable(options { $0.ca = path })?.reason == .invalid)
  }

  @Test("content that cannot be used is named with its file and its reason, but not shown")
  func invalid() async throws {
    let certificates = try await TestCertificates()
    let client = try await certificates.client()
    let directory = try TemporaryDirectory()
    let secret = try directory.file("secret", text: "s3cret s3cret\n")
    let large = try directory.file("large", text: String(repeating: "#", count: 5 << 20))
    for (options, reason) in [
      (options { $0.ca = secret }, "no PEM certificate"), (options { $0.cert = secret }, "no PEM certificate"),
      (options { $0.cert = client.certificate }, "certKey"),
      (
        options {
          $0.cert = client.certificate
          $0.certKey = secret
        }, "no PEM private key"
      ),
      (
        options {
          $0.cert = client.certificate
          $0.certKey = client.encryptedKey
        }, "passphrase"
      ),
      (options { $0.cookies = secret }, "line 1"),
    ] {
      let error = try #require(unusable(options))
      #expect(error.reason == .invalid && error.description.contains(reason), "\(error)")
      #expect(!error.description.contains("s3cret"))
    }
    withExtendedLifetime(certificates) {}
    #expect(unusable(options { $0.cookies = large })?.description.contains("larger than") == true)
  }
}
