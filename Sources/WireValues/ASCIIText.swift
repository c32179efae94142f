/// ASCII delimiters in text, found by bytes as servers find them.
///
/// Swift compares `Character`s, and a `?` followed by a combining mark is another `Character` than a `?`. Code that looks for
/// delimiters with `firstIndex(of:)` or `split` misses such a `?`. Everything that hides secrets or signs requests uses these
/// members.
extension StringProtocol where UTF8View: BidirectionalCollection {
  /// The first of these ASCII characters.
  @inlinable public func firstIndex(ofASCII characters: String) -> Index? {
    utf8.firstIndex { characters.utf8.contains($0) }
  }

  /// The last of these ASCII characters.
  @inlinable public func lastIndex(ofASCII characters: String) -> Index? {
    utf8.lastIndex { characters.utf8.contains($0) }
  }

  /// The text before the first of these ASCII characters; the whole text if there is none.
  @inlinable public func prefix(upToASCII characters: String) -> SubSequence {
    self[..<(firstIndex(ofASCII: characters) ?? endIndex)]
  }

  /// What follows an ASCII character at this position.
  @inlinable public func suffix(after index: Index) -> SubSequence { self[utf8.index(after: index)...] }

  /// The range of the first occurrence of this ASCII text.
  @inlinable public func firstRange(ofASCII text: String) -> Range<Index>? {
    var rest = utf8[...]
    while !rest.isEmpty {
      if rest.starts(with: text.utf8) {
        return rest.startIndex..<rest.index(rest.startIndex, offsetBy: text.utf8.count)  // checked: it stands there
      }
      rest = rest.dropFirst()
    }
    return nil
  }

  /// The pieces between these ASCII characters.
  /// - Parameters:
  ///   - maximum: the number of splits; the last piece holds the rest.
  ///   - keepsEmpty: whether empty pieces are kept.
  @inlinable public func split(
    atASCII characters: String, maximum: Int = .max, keepsEmpty: Bool = false
  ) -> [SubSequence] {
    utf8.split(maxSplits: maximum, omittingEmptySubsequences: !keepsEmpty) { characters.utf8.contains($0) }
      .map { self[$0.startIndex..<$0.endIndex] }  // checked: the bounds are those of a piece
  }
}

extension UInt8 {
  @inlinable public var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  @inlinable public var isASCIILetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
}

extension StringProtocol {
  /// Without the spaces and tabs around it (`OWS`, RFC 9110 §5.6.3); those inside stay.
  @inlinable public func trimmingBlanks() -> SubSequence {
    trimming { $0 == " " || $0 == "\t" }
  }
}

extension BidirectionalCollection<UInt8> {
  /// A line without the spaces and tabs around it, and without the CR of its end.
  @inlinable public func trimmingLine() -> SubSequence {
    trimming { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
  }
}

extension BidirectionalCollection {
  /// Without the elements at both ends for which this is true.
  @inlinable public func trimming(while isBlank: (Element) -> Bool) -> SubSequence {
    guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else {
      return self[endIndex...]
    }
    return self[first...last]  // checked: both were found, the last one from the end
  }
}
