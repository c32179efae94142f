public import FoundationEssentials
import HTTPTypes

/// One download of a `DownloadGroup`.
public struct GroupDownload: Sendable {
  /// The caller's number for it, which its outcome carries. Unique among the downloads of the group that have not ended.
  public var tag: Int
  /// What to download.
  public var request: TransferRequest
  /// The directory and the name.
  public var destination: DownloadDestination
  /// How the destination may be changed.
  public var options: DownloadOptions
  /// Where the file may go; checked on the open directory.
  public var rules: PathRules
  /// Resume data of an earlier request; ignored if it cannot be read.
  public var resumeData: Data?
  /// The digests that the file must have.
  public var digests: [ExpectedDigest]
  /// The part file's name; `nil` for a new one.
  public var partialName: String?
  /// Statuses of the response that brings the file; others fail the download as `validate(statusCode:)` does. `nil`: 200 to
  /// 299.
  public var acceptableStatusCodes: Set<Int>?
  /// Makes the resume data durable if the download does not stay in the group (see `DownloadGroup`). Without one, such a
  /// download reports its rename to the group's journal, and nothing else is recorded.
  public var journal: (any DownloadJournal)?
  /// How many connections may fetch the file, if it turns out to be large.
  public var segmentation = Segmentation()
  /// From where else the file can be fetched, if it does not stay in the group; `nil`: from its own URL only.
  public var sources: DownloadSources?
  /// Asked before the session's. A download with an interceptor does not stay in the group.
  public var interceptor: (any RequestInterceptor)?

  /// A download of a request to a known place.
  public init(
    tag: Int, request: TransferRequest, to destination: DownloadDestination, options: DownloadOptions = [],
    rules: PathRules = .none, resumingWith data: Data? = nil, expecting digests: [ExpectedDigest] = [],
    partialName: String? = nil, acceptableStatusCodes: Set<Int>? = nil, journal: (any DownloadJournal)? = nil,
    interceptor: (any RequestInterceptor)? = nil
  ) {
    self.tag = tag
    self.request = request
    self.destination = destination
    self.options = options
    self.rules = rules
    resumeData = data
    self.digests = digests
    self.partialName = partialName
    self.acceptableStatusCodes = acceptableStatusCodes
    self.journal = journal
    self.interceptor = interceptor
  }
}
