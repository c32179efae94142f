import FoundationEssentials
import TransferAPI

extension NewJob {
  /// The header field `Job-Options` of a bulk add: one line of JSON in ASCII. `nil` if it would be too long.
  var listOptions: String? {
    let encoder = WireCoding.encoder()
    encoder.userInfo[.newJobIsTemplate] = true
    guard let json = try? encoder.encode(self) else { return nil }
    var text = ""
    // Non-ASCII characters occur only in strings, where JSON allows escapes (RFC 8259 §7).
    for unit in String(decoding: json, as: UTF8.self).utf16 {
      if unit < 0x7F, let scalar = Unicode.Scalar(unit) {
        text.unicodeScalars.append(scalar)
      } else {
        let digits = String(unit, radix: 16)
        // checked: a unit has 4 digits at most
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }
    }
    return text.utf8.count <= NewJob.maximumOptionsBytes ? text : nil
  }
}
