/// The layout of a form.
public struct FormOptions: Sendable, Equatable {
  /// The name of the field that contains the file.
  public var fileField: String
  /// The other fields, in order; they precede the file.
  public var fields: [Field]
  /// The file name that the form announces; by default the source's last path component.
  public var fileName: String?
  /// The file's media type; guessed from its name by default.
  public var contentType: String?

  /// A field of a form.
  public struct Field: Sendable, Equatable {
    /// The field's name.
    public var name: String
    /// The field's text.
    public var value: String

    /// A field with this name and text.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The layout of a form; the defaults suit most servers.
  public init(
    fileField: String = "file", fields: [Field] = [], fileName: String? = nil, contentType: String? = nil
  ) {
    self.fileField = fileField
    self.fields = fields
    self.fileName = fileName
    self.contentType = contentType
  }
}
