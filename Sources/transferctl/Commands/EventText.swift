import ArgumentParser
import FoundationEssentials
import TransferAPI

/// An event as one line of text.
enum EventText {
  /// `2026-11-21T04:17:09.000Z  12  job 3  queued -> running  reason`
  static func line(_ event: Event) -> String {
    var words = ["job \(event.job)"]
    switch event.kind {
    case .added: words.append("added" + (event.to.map { " \($0.rawValue)" } ?? ""))
    case .changed: words.append("changed")
    case .removed: words.append("removed")
    case .state: words.append("\(event.from?.rawValue ?? "-") -> \(event.to?.rawValue ?? "-")")
    }
    if let reason = event.reason { words.append(reason) }
    if let error = event.error, error.message != event.reason {
      words.append(error.text)
    }
    return ([WireCoding.rfc3339(event.at), String(event.seq)] + words).joined(separator: "  ").printable
  }
}
