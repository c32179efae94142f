import Store
import TransferAPI

extension JobSpec {
  /// The transfers that the job will be: both of a relay, whose owner needs the privileges of each.
  var legs: [JobSpec] { relay == nil ? [self] : RelayPhase.allCases.map { leg($0, copy: "/") } }
}
