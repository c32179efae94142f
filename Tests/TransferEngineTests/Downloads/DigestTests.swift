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
    let room = try DownloadRoom()
    try await expect(isRight, room, room.download(server).response())
  }

  @Test("a digest that the user demands is checked", arguments: DigestAlgorithm.allCases, [true, false])
  func demanded(_ algorithm: DigestAlgorithm, _ isRight: Bool) async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let room = try DownloadRoom()
    let digest = Self.digest(algorithm, of: isRight ? Self.payload : Payload(size: 300_000, seed: 9))
    try await expect(isRight, room, room.download(server, expecting: [digest]).response())
  }

  @Test("one wrong digest among right ones is enough")
  func oneWrong() async throws {
    let server = try LoopbackServer(.file(Self.payload).digest(.reprDigest))
    let room = try DownloadRoom()
    let wrong = Self.digest(.md5, of: Payload(size: 1))
    try await expect(false, room, room.download(server, expecting: [wrong]).response())
  }

  @Test("after a resume the digest is that of all bytes", arguments: [true, false])
  func resumed(_ isRight: Bool) async throws {
    let server = try LoopbackServer(.file(Self.payload).dropping(after: 100_000))
    let room = try DownloadRoom()
    let digest = Self.digest(.sha256, of: isRight ? Self.payload : Payload(size: 300_000, seed: 9))
    let first = try await room.download(server, expecting: [digest]).response()
    let data = try #require(first.resumeData)
    let second = try await room.download(server, resumingWith: data.encoded(), expecting: [digest]).response()
    #expect(second.resumedFrom == 100_000)
    try await expect(isRight, room, second)
  }

  @Test("a wrong digest leaves the file that was there")
  func keepsOld() async throws {
    let server = try LoopbackServer(.file(Self.payload).digest(.reprDigest, isRight: false))
    let room = try DownloadRoom()
    try room.directory.file(DownloadRoom.name, text: "good")
    _ = try await room.download(server, options: .removePreviousFile).response()
    #expect(try room.names() == [DownloadRoom.name])
    #expect(try String(contentsOfFile: room.path, encoding: .utf8) == "good")
  }

  private func expect(_ isRight: Bool, _ room: DownloadRoom, _ response: FileResponse) async throws {
    if isRight {
      #expect(response.error == nil)
      #expect(response.verification == .digest)
      try room.expectOnly(Self.payload)
      return
    }
    guard case .verification(.digest)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(response.error?.isTransient == false)
    #expect(response.resumeData == nil)
    #expect(try room.names() == [])
  }
}
