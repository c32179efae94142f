import HTTPTypes
import WireValues

/// `Upload-Limit`: a structured dictionary of integers; unknown keys are ignored.
struct UploadLimit: Sendable, Equatable {
  var maximumSize: Int64?
  var maximumAppend: Int64?
  var minimumAppend: Int64?

  init?(_ head: ResponseHead) {
    guard let value = head.field("Upload-Limit") else { return nil }
    for item in value.split(separator: ",") {
      let pair = item.split(separator: "=", maxSplits: 1).map { $0.trimmingBlanks() }
      // Parameters of an item follow a semicolon.
      guard pair.count == 2, let number = CheckedNumber(digits: pair[1].prefix { $0 != ";" }.trimmingBlanks()).value
      else { continue }
      switch pair[0] {
      case "max-size": maximumSize = number
      case "max-append-size": maximumAppend = number
      case "min-append-size": minimumAppend = number
      default: continue
      }
    }
  }
}
