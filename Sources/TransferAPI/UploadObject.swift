/// The options that only uploads have, and those of S3, as one object: `options.upload` of `show`, and in databases of version 2.
public struct UploadObject: Codable, Equatable, Sendable {
  public var upload: JobOptions.Upload
  public var s3: JobOptions.S3

  public init(upload: JobOptions.Upload = JobOptions.Upload(), s3: JobOptions.S3 = JobOptions.S3()) {
    (self.upload, self.s3) = (upload, s3)
  }

  public init(from decoder: any Decoder) throws {
    self.init()
    var reader = OptionReader(container: try decoder.container(keyedBy: OptionName.self))
    try upload.visit(&reader)
    try s3.visit(&reader)
  }

  /// Writes the options that differ from their defaults.
  public func encode(to encoder: any Encoder) throws {
    var writer = OptionWriter(container: encoder.container(keyedBy: OptionName.self))
    var (upload, s3) = (upload, s3)
    try upload.visit(&writer)
    try s3.visit(&writer)
  }
}
