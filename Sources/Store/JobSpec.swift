public import TransferAPI
import WireValues

/// A job as the daemon has checked it: every path is absolute, every default is filled in.
public struct JobSpec: Equatable, Sendable {
  /// The uid of the user who submitted the job.
  public var owner: UInt32
  public var kind: JobKind
  /// Only of relays.
  public var relay: Relay?
  /// The URL without userinfo. An upload: the file's absolute path.
  public var source: String
  /// The file's absolute path, with a trailing `/` until the response has named the file. An upload or a relay: the target's URL without
  /// userinfo.
  /// Two unfinished downloads never have the same path.
  public var destination: String
  /// Scheme, host and port of `url`: `https://example.org:443`. A relay: those of its phase.
  public var origin: String
  /// The userinfo of the URL as the user gave it.
  public var credentials: Credentials?
  public var options: JobOptions {
    // Not `_read`: see `Shared`.
    get { sharedOptions.value }
    _modify { yield &sharedOptions.value }
  }
  public var batch: String?
  /// Makes adding idempotent: at most one stored job of an owner has a key.
  public var key: String?
  public var priority = 0
  /// Begin as `paused`.
  public var paused = false
  /// The listing that has found the file. It adds one job for each destination.
  public var listing: JobID?
  /// The token of the daemon's own copy of the source, made from standard input. A relay: where its copy is, below the spool's
  /// directory for relays.
  public var spool: String?
  /// Shared, because a job is copied at each step from the store to its transfer, and its options are many.
  private var sharedOptions = JobSpec.standardOptions

  private static let standardOptions = Shared(JobOptions())

  public struct Credentials: Equatable, Sendable {
    public var username: String
    public var password: String
    public init(username: String, password: String) {
      self.username = username
      self.password = password
    }
  }

  /// A download.
  public init(
    owner: UInt32, url: String, origin: String, destination: String, credentials: Credentials? = nil
  ) {
    self.owner = owner
    kind = .download
    source = url
    self.destination = destination
    self.origin = origin
    self.credentials = credentials
  }

  /// An upload of the file at `path`.
  public init(
    owner: UInt32, uploading path: String, to url: String, origin: String, credentials: Credentials? = nil
  ) {
    self.owner = owner
    kind = .upload
    source = path
    destination = url
    self.origin = origin
    self.credentials = credentials
  }

  /// Where an upload or a relay stores its file. A row has two texts, which are read and written together only here:
  /// `destination`, which SQL compares, and the option `collection`, which all jobs of a batch share.
  public var target: UploadTarget {
    get { UploadTarget(url: destination, collection: options.upload.collection) }
    set {
      destination = newValue.url
      // A change of the options ends the sharing.
      if options.upload.collection != newValue.collection { options.upload.collection = newValue.collection }
    }
  }

  /// Whether `destination` is a URL.
  var sendsToURL: Bool { kind == .upload || kind == .relay }

  /// Whether two uploads to the same URL at once would leave it to chance which file the server keeps.
  var replacesTarget: Bool { transferKind == .upload && options.upload.replacesTarget }

  /// Whether the file gets another name if the destination exists: then other jobs may have the same destination.
  var choosesName: Bool { kind == .download && options.download.ifExists == .rename }

  /// The URL of the job's server; of a relay, that of its source.
  public var url: String {
    get {
      switch kind {
      case .download, .listing, .relay: source
      case .upload: destination
      }
    }
    set {
      switch kind {
      case .download, .listing, .relay: source = newValue
      case .upload: destination = newValue
      }
    }
  }
}
