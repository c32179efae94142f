import Store
import TransferAPI
import TransferEngine

/// The job was claimed again or ended since this attempt started, so this attempt must not write to it any more.
struct LostClaim: Error, CustomStringConvertible {
  let id: JobID
  var description: String { "this attempt no longer has the claim on job \(id)" }
}
