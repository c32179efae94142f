import Synchronization

/// Who performs transfers of some kind: the loop for HTTP, the loops for files on servers, the reader of local files.
protocol TransferPerformer: Sendable {
  /// Runs one transfer to its end.
  func perform(_ request: WireRequest, id: TransferID, receiver: any TransferReceiver) async -> TransferOutcome
  /// Ends a transfer with `.cancelled`. An unknown id is one that ended a moment ago.
  func cancel(_ id: TransferID) async
  /// Lets a transfer go on whose receiver said `.pause`.
  func unpause(_ id: TransferID) async
  /// Holds a transfer or lets it go on, whatever `TransferID.isHeld` says by now.
  func adjustHold(_ id: TransferID) async
}

extension TransferLoop: TransferPerformer {}

/// Loops for FTP and SSH, made when first needed, each server always by the same one.
///
/// They are apart from HTTP's because libcurl waits for some answers of these protocols on the spot (FTP's reply after the
/// data, the closing of SFTP's handles): a server that falls silent there holds up all that its loop does. Those waits end
/// with a cancel or the stall timeout (`Transfer.progress`). SSH's cryptography also wants more than one thread.
final class RemoteLoops: Sendable {
  private static let count = 4
  private let loops = Mutex([TransferLoop?](repeating: nil, count: count))
  private let maximumConnections: Int
  let files = LocalFileReader()

  init(maximumConnections: Int) { self.maximumConnections = maximumConnections }

  func loop(for origin: String) -> TransferLoop {
    // A hash that is the same in every run: which servers share a loop should not change from start to start.
    let hash = origin.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
    let index = Int(hash % UInt32(Self.count))
    return loops.withLock { loops in
      if let loop = loops[index] { return loop }
      let loop = TransferLoop(maximumConnections: maximumConnections)
      loops[index] = loop
      return loop
    }
  }
}

extension Session {
  /// Who performs a transfer of this URL.
  /// - Throws: `.unsupportedScheme` for a `file:` URL where the session does not allow them.
  func performer(for url: RequestURL) throws(TransferError) -> any TransferPerformer {
    if url.isHTTP { return loop }
    if url.scheme == "file" {
      guard configuration.allowsFileURLs else { throw .unsupportedScheme("file") }
      return remoteLoops.files
    }
    return remoteLoops.loop(for: url.origin)
  }
}
