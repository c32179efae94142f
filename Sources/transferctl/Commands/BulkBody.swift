import FoundationEssentials
import TransferAPI

/// The checked jobs of a command, ready to be sent: as one object, as JSON lines, or as a list whose jobs share their options.
struct BulkBody: Sendable {
  enum Form: Equatable, Sendable {
    /// One job, whose refusal becomes the command's error.
    case one
    case lines
    /// `text/uri-list` or `application/vnd.transferd.paths`, with the common options.
    case list(contentType: String, options: String)
  }

  let form: Form
  /// The number of jobs.
  let count: Int
  /// Whether every job has a key: then the body may be sent again without adding a job twice.
  let areKeyed: Bool
  /// The bytes from the beginning, piece by piece.
  let pieces: @Sendable () -> @Sendable () throws -> Data?
  /// Where a line comes from.
  let origin: @Sendable (Int) -> JobLines.Origin?
  /// What the fields of a list's lines are called.
  let naming: FieldNaming

  /// Whether a file of a list that is missing when the daemon looks for it is skipped: another run may have moved it.
  var skipsMissing = false

  init(_ lines: JobLines, isAlone: Bool = false) {
    self.init(lines, as: isAlone ? .one : .lines, areKeyed: lines.areKeyed)
  }

  /// - Parameter options: the header field `Job-Options`.
  init(urls lines: JobLines, options: String) {
    self.init(lines, as: .list(contentType: "text/uri-list", options: options), areKeyed: false)
  }

  /// - Parameter options: the header field `Job-Options`.
  init(paths lines: JobLines, options: String) {
    self.init(
      lines, as: .list(contentType: "application/vnd.transferd.paths", options: options), areKeyed: lines.areKeyed)
  }

  /// - Parameter options: the header field `Job-Options`.
  init(_ list: URLList, options: String) {
    form = .list(contentType: "text/uri-list", options: options)
    (count, areKeyed) = (list.count, false)
    pieces = { list.pieces() }
    origin = { list.origin(ofLine: $0) }
    naming = .options
  }

  private init(_ lines: JobLines, as form: Form, areKeyed: Bool) {
    self.form = form
    (count, self.areKeyed) = (lines.count, areKeyed)
    pieces = { lines.spool.pieces() }
    origin = { lines.origin(ofLine: $0) }
    naming = lines.naming
  }

  var contentType: String {
    switch form {
    case .one: "application/json"
    case .lines: "application/x-ndjson"
    case .list(let contentType, _): contentType
    }
  }

  var headers: [String: String] {
    switch form {
    case .one, .lines: [:]
    case .list(_, let options): [NewJob.optionsField: options]
    }
  }
}
