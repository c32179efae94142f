/// The options that only uploads have, those of S3 and the file action, as one object: `options.upload` of `show`, and in databases of version 2.
public struct UploadObject: Codable, Equatable, Sendable {
  public var upload: JobOptions.Upload
  public var s3: JobOptions.S3
  public var onSuccess: SuccessAction

  public init(
    upload: JobOptions.Upload = JobOptions.Upload(), s3: JobOptions.S3 = JobOptions.S3(),
    onSuccess: SuccessAction = .keep
  ) {
    (self.upload, self.s3, self.onSuccess) = (upload, s3, onSuccess)
  }

  public init(from decoder: any Decoder) throws {
    self.init()
    var reader = OptionReader(container: try decoder.container(keyedBy: OptionName.self))
    try upload.visit(&reader)
    try s3.visit(&reader)
    try reader.option("onSuccess", &onSuccess, default: .keep)
  }

  /// Writes the options that differ from their defaults.
  public func encode(to encoder: any Encoder) throws {
    var writer = OptionWriter(container: encoder.container(keyedBy: OptionName.self))
    var (upload, s3, onSuccess) = (upload, s3, onSuccess)
    try upload.visit(&writer)
    try s3.visit(&writer)
    try writer.option("onSuccess", &onSuccess, default: .keep)
  }
}
