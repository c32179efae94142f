/// A file that is to be brought to a server: what is asked for, as a value. Rebuilt from its description for every attempt.
public struct FileUpload: Sendable {
  /// Where to and with which fields, credentials, timeouts and `limitRate`. The method counts for `.plain` (PUT unless it
  /// says POST) and `.form` (POST unless it says PUT); the other protocols have their own.
  public var request: TransferRequest
  /// The absolute path of a regular file. A symbolic link is followed.
  public var source: String
  /// The collection that the user named, where `request.url` is that with the file's name added: where `.automatic` looks for a
  /// tus endpoint, and where `.tus` creates its upload. `nil`: `request.url`.
  public var collection: RequestURL?
  /// Which version of the IETF draft `.resumable` begins with, 3 to 8. A server answers only to its own.
  public var interopVersion = 8
  /// How it is sent.
  public var `protocol`: UploadProtocol
  /// What is done where the file changes while it is sent.
  public var onChange: SourceChangePolicy
  /// What stands under the target's name is not replaced: `If-None-Match: *`, `Overwrite: F`, a rename that refuses; the
  /// upload then fails.
  public var onlyIfAbsent: Bool
  /// Where the source may be; checked on the open file at each attempt.
  public var rules = PathRules.none
  /// Ask with HEAD after a PUT (plain, or of WebDAV) how long the resource is, where the server says so, and fail where it
  /// is not the file's size.
  public var verifiesLength: Bool

  /// A file, or a part of one, to be sent to a request's URL.
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

/// How the file is brought there.
public enum UploadProtocol: Sendable {
  /// By the URL's scheme; for http and https tus where the URL turns out to be a tus endpoint, else `.plain`.
  case automatic
  /// One PUT or POST of the bytes. Cannot be gone on from: each attempt sends all.
  case plain
  /// One POST as `multipart/form-data` (RFC 7578).
  case form(FormOptions)
  /// tus 1.0.0 (tus.io/protocols/resumable-upload).
  case tus(TusOptions)
  /// Resumable Uploads for HTTP (draft-ietf-httpbis-resumable-upload). Runs as a plain one where the server does not know it.
  case resumable
  /// Amazon S3 and what speaks its protocol; in parts from 16 MiB on.
  case s3(S3Options)
  /// PUT under a temporary name, then MOVE (RFC 4918). Missing collections are made.
  case webDAV
  /// ftp, ftps, sftp, scp, by the URL's scheme: under a temporary name, then a rename.
  case remoteFile
}

/// What happens when the source is found changed since its first byte was sent.
public enum SourceChangePolicy: String, Sendable, Codable {
  /// Start over with the new version, up to three times in one attempt.
  case restart
  /// Fail with `TransferError.source(.changed)`.
  case fail
}

/// How a form looks.
public struct FormOptions: Sendable, Equatable {
  /// The name of the field that carries the file.
  public var fileField: String
  /// The other fields, in order; they come before the file.
  public var fields: [Field]
  /// What the server is told the file is called; the source's last path component by default.
  public var fileName: String?
  /// The file's media type; guessed from its name by default.
  public var contentType: String?

  /// A field of a form.
  public struct Field: Sendable, Equatable {
    /// The field's name.
    public var name: String
    /// Its text.
    public var value: String

    /// A name and its text.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// How a form looks; the defaults suit most servers.
  public init(
    fileField: String = "file", fields: [Field] = [], fileName: String? = nil, contentType: String? = nil
  ) {
    self.fileField = fileField
    self.fields = fields
    self.fileName = fileName
    self.contentType = contentType
  }
}

/// How tus is spoken.
public struct TusOptions: Sendable, Equatable {
  /// `Upload-Metadata`; `filename` and `filetype` are added where they are missing.
  public var metadata: [String: String]
  /// Bytes of one PATCH; `nil`: one PATCH for all that is left, unless the server wants less.
  public var chunkSize: Int64?
  /// Partial uploads that run at once, where the server offers concatenation and the file has 64 MiB or more. 1: none.
  public var parallelParts: Int

  /// How tus is spoken; sizes are bytes.
  public init(metadata: [String: String] = [:], chunkSize: Int64? = nil, parallelParts: Int = 1) {
    self.metadata = metadata
    self.chunkSize = chunkSize
    self.parallelParts = parallelParts
  }
}

/// How S3 is spoken. The target is `s3://bucket/key`, or an http(s) URL `https://host/bucket/key` (path style).
public struct S3Options: Sendable, Equatable {
  /// Another server than AWS: `https://host:port`. `nil`: what the profile, or `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`,
  /// says, else AWS.
  public var endpoint: String?
  /// `nil`: what the environment or the profile says, else `us-east-1`.
  public var region: String?
  /// A profile of `~/.aws/credentials` and `~/.aws/config`; `nil`: the environment first, then `AWS_PROFILE` or `default`.
  public var profile: String?
  /// A command that prints credentials as `credential_process` does (JSON, version 1); split at blanks, run without a
  /// shell. Comes before all others.
  public var credentialCommand: [String]?
  /// How bucket and host go together.
  public var addressing: Addressing
  /// Bytes of one part; `nil`: 8 MiB, or more where 10,000 parts would not do.
  public var partSize: Int64?
  /// Parts that are sent at once.
  public var parallelParts: Int

  /// Where the bucket's name stands.
  public enum Addressing: String, Sendable, Codable {
    /// Path style with an endpoint of one's own and for names that are no host names, else virtual host style.
    case automatic
    /// `https://host/bucket/key`
    case path
    /// `https://bucket.host/key`
    case virtualHost
  }

  /// How S3 is spoken; sizes are bytes.
  public init(
    endpoint: String? = nil, region: String? = nil, profile: String? = nil, credentialCommand: [String]? = nil,
    addressing: Addressing = .automatic, partSize: Int64? = nil, parallelParts: Int = 4
  ) {
    self.endpoint = endpoint
    self.region = region
    self.profile = profile
    self.credentialCommand = credentialCommand
    self.addressing = addressing
    self.partSize = partSize
    self.parallelParts = parallelParts
  }
}
