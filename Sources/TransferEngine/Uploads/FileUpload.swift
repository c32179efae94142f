/// An upload of a file: what to send, where and how. A value, from which every attempt is made.
public struct FileUpload: Sendable {
  /// The target, with header fields, credentials, timeouts and `limitRate`. The method is used by `.plain` (PUT unless
  /// it is POST) and `.form` (POST unless it is PUT); the other protocols have their own methods.
  public var request: TransferRequest
  /// The absolute path of a regular file. A symbolic link is followed.
  public var source: String
  /// Where a server that names its uploads itself creates this one: the collection to which the user's file is added.
  /// `.automatic` looks for a tus endpoint there, and `.tus` creates its upload there and requests nothing at
  /// `request.url`, where all other protocols store the file. `nil`: `request.url`.
  public var collection: RequestURL?
  /// The version of the IETF draft with which `.resumable` begins, 3 to 8. A server responds only to the version that
  /// it implements.
  public var interopVersion = 8
  /// The protocol.
  public var `protocol`: UploadProtocol
  /// What to do if the file changes while it is sent.
  public var onChange: SourceChangePolicy
  /// Fail instead of replacing an existing resource: `If-None-Match: *`, `Overwrite: F`, or a rename that does not
  /// replace.
  public var onlyIfAbsent: Bool
  /// Where the source may be; checked on the open file in each attempt.
  public var rules = PathRules.none
  /// Send a HEAD after a PUT (plain or WebDAV) and fail if the server announces another length than the file's.
  public var verifiesLength: Bool

  /// An upload of a file to a request's URL.
  public init(
    request: TransferRequest, source: String, protocol: UploadProtocol = .automatic,
    onChange: SourceChangePolicy = .restart, onlyIfAbsent: Bool = false, verifiesLength: Bool = false,
    collection: RequestURL? = nil
  ) {
    self.collection = collection
    self.request = request
    self.source = source
    self.protocol = `protocol`
    self.onChange = onChange
    self.onlyIfAbsent = onlyIfAbsent
    self.verifiesLength = verifiesLength
  }
}
