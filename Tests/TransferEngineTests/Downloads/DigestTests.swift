import Digests
import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct DigestTests {
  static let payload = Payload(size: 300_000)

  static func digest(_ algorithm: DigestAlgorithm, of payload: Payload) -> ExpectedDigest {
    let bytes =
      switch algorithm {
      case .sha256: payload.digest(.sha256)
      case .sha512: payload.digest(.sha512)
      case .sha1: payload.digest(.sha1)
      case .md5: payload.digest(.md5)
      }
    return ExpectedDigest(algorithm: algorithm, hex: bytes.hexadecimal.uppercased())
  }

  @Test(
    "a digest that the server declares is checked",
    arguments: [FileBehaviour.DigestField.reprDigest, .contentMD5, .amazonSHA256], [true, false])
  func declared(_ field: FileBehaviour.DigestField, _ isRight: Bool) async throws {
    let server = try LoopbackServer(.file(Self.payload).digest(field, isRight: isRight))
    let fixture = try DownloadFixture()
    try await expect(isRight, fixture, fixture.download(server).response())
  }

  @Test("a digest that the user demands is checked", arguments: DigestAlgorithm.allCases, [true, false])
  func demanded(_ algorithm: DigestAlgorithm, _ isRight: Bool) async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try DownloadFixture()
    let digest = Self.digest(algorithm, of: isRight ? Self.payload : Payload(size: 300_000, seed: 9))
    try await expect(isRight, fixture, fixture.download(server, expecting: [digest]).response())
  }

  @Test("one wrong digest among correct ones fails the download")
  func oneWrong() async throws {
    let server = try LoopbackServer(.file(Self.payload).digest(.reprDigest))
    let fixture = try DownloadFixture()
    let wrong = Self.digest(.md5, of: Payload(size: 1))
    try await expect(false, fixture, fixture.download(server, expecting: [wrong]).response())
  }

  @Test("after a resume the digest of the whole file is checked", arguments: [true, false])
  func resumed(_ isRight: Bool) async throws {
    let server = try LoopbackServer(.file(Self.payload).dropping(after: 100_000))
    let fixture = try DownloadFixture()
    let digest = Self.digest(.sha256, of: isRight ? Self.payload : Payload(size: 300_000, seed: 9))
    let first = try await fixture.download(server, expecting: [digest]).response()
    let data = try #require(first.resumeData)
    let second = try await fixture.download(server, resumingWith: data.encoded(), expecting: [digest]).response()
    #expect(second.resumedFrom == 100_000)
    try await expect(isRight, fixture, second)
  }

  @Test("the existing file is kept if the digest is wrong")
  func keepsOld() async throws {
    let server = try LoopbackServer(.file(Self.payload).digest(.reprDigest, isRight: false))
    let fixture = try DownloadFixture()
    try fixture.directory.file(DownloadFixture.name, text: "good")
    _ = try await fixture.download(server, options: .removePreviousFile).response()
    #expect(try fixture.names() == [DownloadFixture.name])
    #expect(try String(contentsOfFile: fixture.path, encoding: .utf8) == "good")
  }

  private func expect(_ isRight: Bool, _ fixture: DownloadFixture, _ response: FileResponse) async throws {
    if isRight {
      #expect(response.error == nil)
      #expect(response.verification == .digest)
      try fixture.expectOnly(Self.payload)
      return
    }
    guard case .verification(.digest)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(response.error?.isTransient == false)
    #expect(response.resumeData == nil)
    #expect(try fixture.names() == [])
  }
}
