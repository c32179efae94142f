import Foundation
import TestSupport
import Testing

@testable import TransferEngine

/// A download with servers of two or more origins.
final class MirrorFixture: Sendable {
  let download: DownloadFixture
  let servers: [LoopbackServer]
  /// Opens when a mirror is asked for a range that is longer than a sample, or when a test opens it.
  let proceed: Gate

  static let mebibyte: Int64 = 1 << 20

  /// - Parameters:
  ///   - behaviours: of the download's own server, and of the mirrors.
  ///   - holdsFirst: the first server sends 1 MiB, and the rest when a mirror fetches a segment.
  init(_ behaviours: [FileBehaviour], holdsFirst: Bool = false) throws {
    download = try DownloadFixture()
    let proceed = Gate()
    self.proceed = proceed
    servers = try behaviours.enumerated().map { number, behaviour in
      guard number > 0 else {
        let held = holdsFirst ? behaviour.holding(after: Self.mebibyte, until: proceed, on: .fresh) : behaviour
        return try LoopbackServer(held)
      }
      let handler = behaviour.handler()
      return try LoopbackServer { request in
        if let range = request.range(of: .max / 4), range.count > SegmentBoard.sampleBytes { proceed.open() }
        return handler(request)
      }
    }
  }

  func sources(
    size: Int64? = nil, pieces: PieceDigests? = nil, own: TransferRequest? = nil,
    describing describe: (@Sendable (RequestURL) -> DownloadSource?)? = nil
  ) throws -> DownloadSources {
    let own = try own ?? .of(servers[0])
    let mirrors = try servers.dropFirst().map { server in
      DownloadSource(request: own.mirrored(at: try RequestURL(server.url("/file.bin"))))
    }
    return DownloadSources(
      mirrors: describe == nil ? mirrors : [], size: size, pieces: pieces, describing: describe)
  }

  func run(
    _ sources: DownloadSources, _ request: TransferRequest? = nil, expecting digests: [ExpectedDigest] = [],
    segmentation: Segmentation = Segmentation(.automatic(upTo: 4)), resumingWith data: Data? = nil
  ) async throws -> FileResponse {
    let request = try request ?? .of(servers[0])
    return await download.session.download(
      request, to: try DownloadDestination(path: download.path), resumingWith: data, expecting: digests,
      segmentation: segmentation, sources: sources
    ).resume().response()
  }
}

extension Payload {
  var expected: [ExpectedDigest] { [ExpectedDigest(algorithm: .sha256, hex: sha256)] }

  /// The same bytes with others in a range.
  func spoiled(_ range: Range<Int64>) -> Payload {
    var bytes = data
    for offset in range { bytes[Int(offset)] ^= 0xFF }
    return Payload(bytes)
  }

  func pieces(of length: Int64) throws -> PieceDigests {
    var digests: [UInt8] = []
    for start in stride(from: 0, to: size, by: Int64.Stride(length)) {
      digests += Payload(bytes(start..<min(start + length, size))).digest(.sha256)
    }
    return try #require(PieceDigests(.sha256, length: length, digests: digests))
  }
}
