import Synchronization

/// Transfer loops for FTP and SSH, created on first use. A server always has the same loop.
///
/// They are separate from HTTP's loop because libcurl blocks while it waits for some replies of these protocols (FTP's
/// reply after the data, the closing of SFTP's handles): a silent server blocks everything on its loop. A cancellation
/// or the stall timeout ends these waits (`Transfer.progress`). SSH's cryptography also needs more than one thread.
final class RemoteLoops: Sendable {
  private static let count = 4
  private let loops = Mutex([TransferLoop?](repeating: nil, count: count))
  private let maximumConnections: Int
  private let bandwidth: BandwidthLimits
  let files = LocalFileReader()

  init(maximumConnections: Int, _ bandwidth: BandwidthLimits) {
    self.maximumConnections = maximumConnections
    self.bandwidth = bandwidth
  }

  func loop(for origin: String) -> TransferLoop {
    // A hash that is the same in every run, so that the same servers share a loop after a restart.
    let hash = origin.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
    let index = Int(hash % UInt32(Self.count))
    return loops.withLock { loops in
      if let loop = loops[index] { return loop }
      let loop = TransferLoop(maximumConnections: maximumConnections, bandwidth)
      loops[index] = loop
      return loop
    }
  }
}
