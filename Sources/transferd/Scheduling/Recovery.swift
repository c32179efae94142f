import Store
import TransferAPI
import TransferEngine
import WireValues

/// What is done with a job that was running when the daemon ended. Pure: what is on the disk is passed in.
///
/// The steps at a download's end are: bytes synchronized → row says which file is about to be renamed → rename → directory
/// synchronized → row `completed`. Wherever the power went, the two names tell how far it came.
enum Recovery: Equatable, Sendable {
  /// Goes on like any waiting job; the engine finds out what of the part file can be used.
  case requeue
  /// It was the running one too often when the daemon ended abruptly: others first, and not at once.
  case park(tries: Int)
  /// The rename was done and the row was not told: bring the name to the disk, then say so.
  case complete

  /// Abrupt ends in a row, without progress, that are taken for chance.
  static let toleratedCrashes = 5

  /// - Parameters:
  ///   - finishing: the file that was about to be renamed.
  ///   - atPartName: what stands under the part file's name.
  ///   - atDestination: what stands under the destination's name.
  init(
    finishing: RowFileIdentity?, atPartName: RowFileIdentity?, atDestination: RowFileIdentity?, crashes: Int
  ) {
    switch (finishing, atPartName, atDestination) {
    // Where rename cannot refuse to replace, a link and an unlink do its work: both names may be there.
    case (let file?, let part, let destination?) where file == destination && (part == nil || part == file):
      self = .complete
    case (_?, _, _), (nil, _, _): self.init(crashes: crashes)
    }
  }

  /// An upload: how far it is, the server tells.
  init(crashes: Int) {
    self =
      crashes >= Self.toleratedCrashes ? .park(tries: (crashes - Self.toleratedCrashes).saturatingSum(1)) : .requeue
  }
}
