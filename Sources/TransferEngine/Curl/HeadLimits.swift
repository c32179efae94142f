/// Limits for a response head. A head that exceeds one ends the transfer before its fields are read.
struct HeadLimits: Sendable, Equatable {
  /// Bytes of all lines, including interim responses and trailers.
  var totalBytes = 256 * 1024
  /// Fields of one head. HTTPTypes stops the program above 65,535.
  var fields = 2000
  var nameBytes = 256
  var valueBytes = 64 * 1024
  var interims = 200
}
