extension JobOptions {
  /// Options that only uploads have.
  public struct Upload: Equatable, Sendable {
    /// `PUT` or `POST`; `nil`: the protocol's own.
    public var method: UploadMethod?
    public var uploadProtocol = UploadProtocolName.auto
    /// The fields of a form, in their order. Empty with the protocol `form`: the file as the field `file`.
    public var form: [FormField] = []
    public var onChange = ChangeRule.restart
    /// Fail if the server already has something under that name, as far as the protocol can tell.
    public var ifAbsent = false
    /// After a PUT, ask the server for the file's length, and fail if it differs.
    public var verify = false
    /// The URL of the collection, if `destination` is that URL with the file's name appended: where a tus server creates
    /// uploads.
    public var collection: String?

    public init() {}

    mutating func visit(_ visitor: inout some OptionVisitor) throws {
      try visitor.word("method", &method, default: nil)
      try visitor.word("protocol", &uploadProtocol, default: .auto)
      try visitor.form("form", &form)
      try visitor.word("onChange", &onChange, default: .restart)
      try visitor.option("ifAbsent", &ifAbsent, default: false)
      try visitor.option("verify", &verify, default: false)
      try visitor.url("collection", &collection)
    }

    /// Whether the upload puts a file under its URL. A form or a POST hands the file over there, and a tus server gives each
    /// upload a URL of its own: the next upload replaces nothing.
    public var replacesTarget: Bool { method != .post && uploadProtocol != .form && uploadProtocol != .tus }
  }
}
