import FoundationEssentials
import HTTPTypes

/// The facts that distinguish the versions of a file (RFC 9110 §8.8).
public struct Validators: Sendable, Equatable, Codable {
  /// As the server sent it, including quotes and `W/`.
  public var etag: String?
  /// `Last-Modified` as the server sent it (RFC 9110 §8.8.2).
  public var lastModified: String?
  /// The response's own `Date`; a `Last-Modified` at least one second older is strong (§8.8.2.2).
  public var date: String?
  /// Nanoseconds since 1970, for protocols other than HTTP: from MDTM, SFTP's stat or the disk.
  public var modificationTime: Int64?

  /// The values of a head, as the server sent them.
  public init(etag: String? = nil, lastModified: String? = nil, date: String? = nil) {
    self.etag = etag
    self.lastModified = lastModified
    self.date = date
  }

  /// Longer values are ignored: they are stored in the job's row and sent with every request.
  private static let maximumBytes = 4096

  init(of head: ResponseHead) {
    func value(_ name: HTTPField.Name) -> String? {
      head.headers[name].flatMap { $0.utf8.count <= Self.maximumBytes ? $0 : nil }
    }
    self.init(etag: value(.eTag), lastModified: value(.lastModified), date: value(.date))
  }

  /// The ETag, if `If-Range` may contain it: never a weak one (§13.1.5).
  public var strongETag: String? {
    guard let etag, etag.hasPrefix("\""), etag.hasSuffix("\""), etag.utf8.count >= 2 else { return nil }
    return etag
  }

  /// The date, if `If-Range` may contain it: only if there is no ETag, and only a strong date.
  public var strongDate: String? { etag == nil ? strongLastModified : nil }

  /// The values for `If-Range`, the better one first.
  var conditions: [String] { [strongETag, strongDate].compactMap(\.self) }

  private var strongLastModified: String? {
    guard let lastModified, let date, let changed = HTTPDate.parse(lastModified), let sent = HTTPDate.parse(date),
      sent.timeIntervalSince(changed) >= 1
    else { return nil }
    return lastModified
  }

  /// Whether the other response certainly has another version. If both have an ETag, it decides; dates are compared
  /// only if not.
  func contradict(_ other: Validators) -> Bool {
    if let etag, let theirs = other.etag { return etag != theirs }
    if let lastModified, let theirs = other.lastModified { return lastModified != theirs }
    return false
  }

  /// Whether both have the same strong validator.
  func agreeStrongly(with other: Validators) -> Bool {
    if let etag, let theirs = other.etag { return strongETag != nil && etag == theirs }
    if let date = strongLastModified, let theirs = other.lastModified { return date == theirs }
    return false
  }
}
