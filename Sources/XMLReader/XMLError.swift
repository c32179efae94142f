/// Why a document cannot be read.
public enum XMLError: Error, Equatable, CustomStringConvertible {
  /// - Parameter line: From 1.
  case malformed(line: UInt, reason: String)
  /// Document types are refused: with their entities a short document can stand for gigabytes, or name files of this machine.
  case documentType
  /// The document is beyond a limit; the text says which.
  case tooLarge(String)
  /// The XML library, libexpat, cannot be loaded.
  case unavailable

  public var description: String {
    switch self {
    case .malformed(let line, let reason): "it is not valid XML: line \(line): \(reason)"
    case .documentType: "it declares a document type (DOCTYPE), which is not read"
    case .tooLarge(let what): "it has \(what), which is not read"
    case .unavailable: "libexpat.so.1 cannot be loaded: install libexpat1"
    }
  }
}
