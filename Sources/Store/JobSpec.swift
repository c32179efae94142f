public import TransferAPI

/// What is asked for, checked by the daemon: every path absolute, every default filled in.
public struct JobSpec: Equatable, Sendable {
  /// The uid of the user who submitted the job.
  public var owner: UInt32
  public var kind: JobKind
  /// The URL without userinfo; of an upload the file's absolute path.
  public var source: String
  /// The file's absolute path, with a trailing `/` while the name is to come from the response; of an upload
  /// the URL without userinfo. Two unfinished downloads never have the same path.
  public var destination: String
  /// Scheme, host and port of `url`: `https://example.org:443`.
  public var origin: String
  /// The userinfo of the URL as the user gave it.
  public var credentials: Credentials?
  public var replace = false
  public var createDirectories = false
  public var nameFromResponse = false
  /// `sha-256=…`
  public var checksum: String?
  public var headers: [String: String] = [:]
  public var batch: String?
  /// Makes adding idempotent: at most one stored job has a key.
  public var key: String?
  public var priority = 0
  /// Begin as `paused`.
  public var paused = false
  /// Bytes a second; `nil`: no limit.
  public var limitRate: Int64?
  /// Tries in a row without progress, 1 or more.
  public var maxAttempts = 20
  /// Seconds.
  public var connectTimeout: Double?
  /// Seconds without progress.
  public var stallTimeout: Double?

  /// Where user name and password are looked up at each attempt.
  public var credentialsReference: SecretReference?
  /// Headers whose values are looked up at each attempt.
  public var secretHeaders: [String: SecretHeader] = [:]
  /// Of an upload.
  public var upload = UploadOptions()
  /// The token of the daemon's own copy of the source, made from standard input.
  public var spool: String?

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

  /// An upload of which two at once would leave it to chance what the server keeps.
  var replacesTarget: Bool { kind == .upload && upload.replacesTarget }

  /// The network's end of the job.
  public var url: String {
    get {
      switch kind {
      case .download: source
      case .upload: destination
      }
    }
    set {
      switch kind {
      case .download: source = newValue
      case .upload: destination = newValue
      }
    }
  }
}
