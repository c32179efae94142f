/// A path as the kernel reads it: bytes, separated by `/` (path_resolution(7)).
///
/// Swift compares `Character`s, and a slash with a combining mark is a different `Character` than a slash alone. Code that
/// searches slashes with `split`, `lastIndex` or `hasPrefix` misses such a slash; the kernel does not. All targets split
/// paths with these members.
extension StringProtocol where UTF8View: BidirectionalCollection {
  /// Whether the path begins with a slash.
  @inlinable public var isAbsolutePath: Bool { utf8.first == UInt8(ascii: "/") }

  /// Whether the path ends with a slash and therefore names a directory.
  @inlinable public var hasTrailingSlash: Bool { utf8.last == UInt8(ascii: "/") }

  /// Whether the path contains a slash.
  @inlinable public var containsSlash: Bool { utf8.contains(UInt8(ascii: "/")) }

  /// The names between the slashes, without empty ones; `.` and `..` are kept.
  @inlinable public var componentsOfPath: [SubSequence] {
    var components: [SubSequence] = []
    var start = utf8.startIndex
    while start < utf8.endIndex {
      let end = utf8[start...].firstIndex(of: UInt8(ascii: "/")) ?? utf8.endIndex
      if start < end { components.append(self[start..<end]) }  // checked: start < end
      guard end < utf8.endIndex else { break }
      start = utf8.index(after: end)
    }
    return components
  }

  /// What follows the last slash: empty for `/a/`, the whole text if there is no slash.
  @inlinable public var baseName: SubSequence {
    guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return self[startIndex...] }
    return self[utf8.index(after: slash)...]
  }

  /// What precedes `baseName`, with its slash: `/a/` for `/a/b`, empty if there is no slash.
  @inlinable public var beforeBaseName: SubSequence { self[..<baseName.startIndex] }

  /// The directory that holds the last component: `/a/b` → `/a`, `/a/` → `/a`, `/a` → `/`, `/` → `/`, `a` → `.`.
  @inlinable public var parentPath: String {
    guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == startIndex ? "/" : String(self[..<slash])
  }

  /// The path without one trailing slash; `/` is unchanged.
  @inlinable public var withoutTrailingSlash: SubSequence {
    guard hasTrailingSlash, utf8.count > 1 else { return self[startIndex...] }
    return self[..<utf8.index(before: utf8.endIndex)]
  }

  /// The path of a name in this directory: `/a` and `b` → `/a/b`, `/` and `b` → `/b`.
  @inlinable public func appendingName(_ name: some StringProtocol) -> String {
    hasTrailingSlash ? "\(self)\(name)" : "\(self)/\(name)"
  }
}
