/// What an upload needs to be told beside its file and its URL. In JSON its fields stand among those of `NewJob`.
public struct UploadOptions: Equatable, Sendable {
  /// `PUT` or `POST`; `nil`: the protocol's own.
  public var method: UploadMethod?
  public var uploadProtocol = UploadProtocolName.auto
  /// The fields of a form, in their order. Empty with the protocol `form`: the file as the field `file`.
  public var form: [FormField] = []
  public var onSuccess = SuccessAction.keep
  public var onChange = ChangeRule.restart
  /// Of another S3 server than AWS: an http or https URL.
  public var endpoint: String?
  /// A profile of `~/.aws`.
  public var profile: String?
  public var region: String?
  /// Fail where the server has something under that name already, as far as the protocol can tell.
  public var ifAbsent = false
  /// Ask the server after a PUT how long the file is there, and fail where it is not as long as here.
  public var verify = false
  /// The URL of the collection, where `destination` is that with the file's name appended: what a tus server creates uploads in.
  public var collection: String?

  public init() {}

  /// As people may see them: no secrets in URLs.
  public var redacted: UploadOptions {
    var options = self
    options.collection = collection.map(Secrets.redacting(url:))
    options.endpoint = endpoint.map(Secrets.redacting(url:))
    return options
  }

  /// Whether an upload puts a file under its URL. A form or a POST hands it over there, and a tus server gives each upload a
  /// URL of its own: the next one replaces nothing.
  public var replacesTarget: Bool { method != .post && uploadProtocol != .form && uploadProtocol != .tus }
}

public enum UploadMethod: String, Codable, CaseIterable, Sendable {
  case put = "PUT"
  case post = "POST"
}

/// How the bytes are brought to the server.
public enum UploadProtocolName: String, Codable, CaseIterable, Sendable {
  /// By the URL's scheme; for http and https the server is asked what it can, else `plain`.
  case auto
  case plain
  /// `multipart/form-data`
  case form
  /// tus 1.0.0
  case tus
  /// Resumable Uploads for HTTP, the IETF's draft.
  case resumable
  case s3
  case webdav
}

/// What becomes of the file once the server has it and the job's row says so.
public enum SuccessAction: Equatable, Sendable, CustomStringConvertible {
  case keep
  case delete
  /// Into this directory, under its own name or one that is free; an absolute path.
  case move(to: String)

  /// `keep`, `delete` or `move=DIR`.
  /// - Throws: `WireError`
  public init(parsing text: String) throws(WireError) {
    switch text {
    case "keep": self = .keep
    case "delete": self = .delete
    default:
      guard text.hasPrefix("move=") else {
        throw WireError("\"\(text)\" is not keep, delete or move=DIR")
      }
      let directory = String(text.dropFirst("move=".count))
      guard !directory.isEmpty else { throw WireError("move= names no directory") }
      self = .move(to: directory)
    }
  }

  public var description: String {
    switch self {
    case .keep: "keep"
    case .delete: "delete"
    case .move(let directory): "move=\(directory)"
    }
  }
}

/// What happens when the file changes while it is being sent.
public enum ChangeRule: String, Codable, CaseIterable, Sendable {
  /// The new version is sent from its beginning.
  case restart
  /// The job fails with `source-changed`.
  case fail
}

/// A field of a form: `NAME=VALUE`, or `NAME=@` for the job's file.
public struct FormField: Equatable, Sendable, CustomStringConvertible {
  public enum Value: Equatable, Sendable {
    case file
    case text(String)
  }

  public var name: String
  public var value: Value

  public init(name: String, value: Value) {
    self.name = name
    self.value = value
  }

  /// - Throws: `WireError`
  public init(parsing text: String) throws(WireError) {
    guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
      throw WireError("a form field is NAME=VALUE, or NAME=@ for the file: \"\(text)\"")
    }
    name = String(text[..<equals])
    let rest = text[text.index(after: equals)...]
    if rest == "@" {
      value = .file
    } else if rest.hasPrefix("@") {
      throw WireError("the form field \(name) names another file; NAME=@ is the uploaded one, and no other can be sent")
    } else {
      value = .text(String(rest))
    }
    guard name.unicodeScalars.allSatisfy({ $0.value > 0x1F && $0.value != 0x7F }) else {
      throw WireError("a form field's name has a control character")
    }
  }

  public var description: String {
    switch value {
    case .file: "\(name)=@"
    case .text(let text): "\(name)=\(text)"
    }
  }
}

extension FormField: Codable {
  public init(from decoder: any Decoder) throws {
    try self.init(parsing: try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension SuccessAction: Codable {
  public init(from decoder: any Decoder) throws {
    try self.init(parsing: try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension UploadOptions: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case method
    case uploadProtocol = "protocol"
    case form, onSuccess, onChange, endpoint, profile, region, ifAbsent, verify, collection
  }

  public init(from decoder: any Decoder) throws {
    self.init()
    let container = try decoder.container(keyedBy: CodingKeys.self)
    method = try container.decodeWord(UploadMethod.self, forKey: .method)
    uploadProtocol = try container.decodeWord(UploadProtocolName.self, forKey: .uploadProtocol) ?? .auto
    form = try container.decodeIfPresent([FormField].self, forKey: .form) ?? []
    onSuccess = try container.decodeIfPresent(SuccessAction.self, forKey: .onSuccess) ?? .keep
    onChange = try container.decodeWord(ChangeRule.self, forKey: .onChange) ?? .restart
    endpoint = try container.decodeIfPresent(String.self, forKey: .endpoint)
    profile = try container.decodeIfPresent(String.self, forKey: .profile)
    region = try container.decodeIfPresent(String.self, forKey: .region)
    ifAbsent = try container.decodeIfPresent(Bool.self, forKey: .ifAbsent) ?? false
    verify = try container.decodeIfPresent(Bool.self, forKey: .verify) ?? false
    collection = try container.decodeIfPresent(String.self, forKey: .collection)
  }

  /// Only what differs from the defaults.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(method, forKey: .method)
    if uploadProtocol != .auto { try container.encode(uploadProtocol, forKey: .uploadProtocol) }
    if !form.isEmpty { try container.encode(form, forKey: .form) }
    if onSuccess != .keep { try container.encode(onSuccess, forKey: .onSuccess) }
    if onChange != .restart { try container.encode(onChange, forKey: .onChange) }
    try container.encodeIfPresent(endpoint, forKey: .endpoint)
    try container.encodeIfPresent(profile, forKey: .profile)
    try container.encodeIfPresent(region, forKey: .region)
    if ifAbsent { try container.encode(true, forKey: .ifAbsent) }
    if verify { try container.encode(true, forKey: .verify) }
    try container.encodeIfPresent(collection, forKey: .collection)
  }
}

extension KeyedDecodingContainer {
  /// One of a few words; the error names them.
  func decodeWord<Word: RawRepresentable<String> & CaseIterable>(_ type: Word.Type, forKey key: Key) throws -> Word? {
    guard let text = try decodeIfPresent(String.self, forKey: key) else { return nil }
    guard let word = Word(rawValue: text) else {
      let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
      throw WireError("\(key.stringValue) \"\(text)\" is not one of \(words)")
    }
    return word
  }
}
