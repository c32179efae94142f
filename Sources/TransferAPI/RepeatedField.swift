import FoundationEssentials

/// Finds a field that an object of a JSON text has twice. Pure.
enum RepeatedField {
  /// - Parameter json: valid.
  /// - Returns: the first name that an object, at any depth, has a second time; `nil`: there is none.
  static func name(in json: Data) -> String? {
    // The names of the objects that have begun; `nil`: an array.
    var names: [Set<String>?] = []
    var string: [UInt8] = []
    var (isInString, isEscaped, isName) = (false, false, false)
    for byte in json {
      if isInString {
        if byte == UInt8(ascii: "\""), !isEscaped {
          isInString = false
          guard isName, let last = names.indices.last else { continue }
          isName = false
          let name = text(of: string)
          guard names[last]?.insert(name).inserted ?? true else { return name }
        } else {
          if isName { string.append(byte) }
          isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""):
        isInString = true
        string.removeAll(keepingCapacity: true)
      case UInt8(ascii: "{"):
        names.append([])
        isName = true
      case UInt8(ascii: "["):
        names.append(nil)
        isName = false
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        _ = names.popLast()
        isName = false
      case UInt8(ascii: ","):
        isName = names.last.map { $0 != nil } ?? false
      default: break
      }
    }
    return nil
  }

  /// The same name may be written with different escapes.
  private static func text(of string: [UInt8]) -> String {
    guard string.contains(UInt8(ascii: "\\")) else { return String(decoding: string, as: UTF8.self) }
    let quoted = Data([UInt8(ascii: "\"")] + string + [UInt8(ascii: "\"")])
    return (try? JSONDecoder().decode(String.self, from: quoted)) ?? String(decoding: string, as: UTF8.self)
  }
}
