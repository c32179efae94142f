/// The setting `maxPerOrigin`: how many concurrent transfers one origin may have.
enum PerOriginLimit: Equatable, Sendable {
  /// ``OriginWidth`` decides.
  case automatic
  /// At most this many, at any time.
  case fixed(Int)

  /// Reads `auto` or a whole number in the range.
  init?(_ text: String, in range: ClosedRange<Int>) {
    if text == "auto" {
      self = .automatic
    } else if let number = Int(text), range.contains(number) {
      self = .fixed(number)
    } else {
      return nil
    }
  }
}
