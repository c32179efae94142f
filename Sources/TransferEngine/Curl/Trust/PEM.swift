import FoundationEssentials
import WireValues

/// The blocks of a PEM text (RFC 7468).
enum PEM {
  struct Block {
    var label: String
    /// `nil` if the text between the lines is not Base64.
    var bytes: Data?
  }

  static func blocks(in text: String) -> [Block] {
    var blocks: [Block] = []
    var label: String?
    var base64 = ""
    for line in text.split(whereSeparator: \.isNewline) {
      let line = line.trimmingBlanks()
      if line.hasPrefix("-----BEGIN "), line.hasSuffix("-----") {
        label = String(line.dropFirst(11).dropLast(5))
        base64 = ""
      } else if line.hasPrefix("-----END "), let begun = label {
        blocks.append(Block(label: begun, bytes: base64.isEmpty ? nil : Data(base64Encoded: base64)))
        label = nil
      } else if label != nil {
        base64 += line
      }
    }
    return blocks
  }
}
