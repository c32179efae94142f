import Store
import TransferAPI

extension Problem {
  /// The store's errors as the control API reports them.
  init(_ error: StoreError) {
    switch error {
    case .notFound, .noSuchBatch: self.init(.notFound, error.description)
    case .ambiguousBatch, .dependencyCycle, .tooManyDependents: self.init(.invalid, text: error.text)
    case .destinationTaken: self.init(.destinationExists, error.description)
    case .invalid, .busy, .urlChangeNotAllowed: self.init(.notAllowed, error.description)
    case .diskFull: self.init(.diskFull, error.description)
    case .closed: self.init(.unavailable, "the daemon is stopping")
    case .newerVersion, .noSpaceToMigrate, .damaged, .readOnly, .io: self.init(.internal, error.description)
    }
  }
}
