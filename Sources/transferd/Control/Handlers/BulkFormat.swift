import FoundationEssentials
import HTTPServer
import TransferAPI

/// The forms of the body of `POST /v1/jobs:batch`.
enum BulkFormat: Equatable, Sendable {
  /// A JSON object a line. Every content type that is not one of the lists.
  case jsonLines
  /// URLs to download, one a line (`text/uri-list`, RFC 2483 §5).
  case urls
  /// Paths of files to upload, each ended by NUL (`application/vnd.transferd.paths`).
  case paths

  /// - Parameter contentType: the header field; `nil` if there is none.
  init(contentType: String?) {
    // RFC 9110 §8.3.1: types are compared without case, and parameters follow a semicolon.
    let type = (contentType ?? "").prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
    switch type {
    case "text/uri-list": self = .urls
    case "application/vnd.transferd.paths": self = .paths
    default: self = .jsonLines
    }
  }

  /// Decodes the header field `Job-Options`: the options that all jobs of a list have.
  /// - Parameter fields: the values of the header fields with that name.
  /// - Throws: `Problem` with `invalid` or `too-large`.
  func options(_ fields: [String]) throws(Problem) -> NewJob {
    let name = NewJob.optionsField
    guard self != .jsonLines else {
      guard fields.isEmpty else {
        throw Problem(.invalid, "\(name) is for lists of URLs and paths; JSON lines have their options in each line")
      }
      return NewJob(source: "")
    }
    guard fields.count <= 1 else { throw Problem(.invalid, "the header field \(name) occurs more than once") }
    let text = fields.first ?? "{}"
    guard text.utf8.count <= NewJob.maximumOptionsBytes else {
      throw Problem(.tooLarge, "\(name) is longer than \(NewJob.maximumOptionsBytes) bytes; use JSON lines")
    }
    let decoder = WireCoding.decoder()
    decoder.userInfo[.newJobKind] = self == .paths ? JobKind.upload : JobKind.download
    decoder.userInfo[.newJobIsTemplate] = true
    do {
      return try WireCoding.decode(NewJob.self, from: Data(text.utf8), with: decoder)
    } catch {
      throw Problem(.invalid, text: "\(name): \(WireCoding.explanation(of: error))")
    }
  }
}
