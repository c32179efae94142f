public import FoundationEssentials

/// One upload of an `UploadGroup`.
public struct GroupUpload: Sendable {
  /// The caller's number for it, which its outcome carries. Unique among the uploads of the group that have not ended.
  public var tag: Int
  /// The file, the target and the protocol.
  public var upload: FileUpload
  /// The ledger of an earlier request; ignored if it cannot be read. An upload with a ledger does not stay in the group.
  public var ledger: Data?
  /// Makes the ledger durable if the upload does not stay in the group (see `UploadGroup`).
  public var journal: (any UploadJournal)?
  /// Asked before the session's. An upload with an interceptor does not stay in the group.
  public var interceptor: (any RequestInterceptor)?

  /// An upload of one file.
  public init(
    tag: Int, _ upload: FileUpload, resumingWith ledger: Data? = nil, journal: (any UploadJournal)? = nil,
    interceptor: (any RequestInterceptor)? = nil
  ) {
    self.tag = tag
    self.upload = upload
    self.ledger = ledger
    self.journal = journal
    self.interceptor = interceptor
  }
}
