import WireValues

/// One usable entry of a listed directory.
public struct DirectoryEntry: Equatable, Hashable, Sendable {
  /// The path below the listed directory: the decoded names, joined by slashes. Each is a file name that Linux accepts, without
  /// control characters, and neither `.` nor `..`. Only a bucket's entries have more than one.
  public var path: String
  public var isDirectory: Bool
  /// The entry's URL; a directory's ends with a slash.
  public var url: RequestURL
}

/// Decides whether an item of a server's document is an entry of the directory that was asked for. Pure.
struct EntryRule: Sendable {
  enum Verdict: Equatable {
    case entry(DirectoryEntry)
    /// A link that says nothing about the directory: to itself, to one above it, or to the same page in another order.
    case none
    /// Outside the directory, or with a name that is not used.
    case refused
  }

  /// The directory's URL, without a query; its path ends with a slash.
  let directory: RequestURL

  func verdict(on item: ListedItem) -> Verdict {
    switch item {
    case .unusable: .refused
    case .reference(let text, let isDirectory): verdict(onReference: text, isDirectory)
    case .name(let bytes, let isDirectory):
      String(validating: bytes, as: UTF8.self).map { entry([$0], isDirectory) } ?? .refused
    case .key(let key): verdict(onKey: key, isDirectory: false)
    case .prefix(let key): verdict(onKey: key, isDirectory: true)
    }
  }

  private func verdict(onReference text: String, _ isDirectory: Bool?) -> Verdict {
    // Anchors of the page, and queries that sort it.
    if text.isEmpty || text.hasPrefix("#") || text.hasPrefix("?") { return .none }
    guard let target = try? directory.resolving(text), target.origin == directory.origin else { return .refused }
    if directory.path.utf8.starts(with: target.path.utf8) { return .none }
    guard target.path.utf8.starts(with: directory.path.utf8) else { return .refused }
    // A list of files has no queries.
    guard !target.string.utf8.contains(UInt8(ascii: "?")) else { return .refused }
    var name = target.path.utf8.dropFirst(directory.path.utf8.count)
    let hasSlash = name.last == UInt8(ascii: "/")
    if hasSlash { name = name.dropLast() }
    guard let decoded = Substring(name).percentDecoded else { return .refused }
    return entry([decoded], isDirectory ?? hasSlash)
  }

  private func verdict(onKey key: String, isDirectory: Bool) -> Verdict {
    guard let prefix = directory.path.dropFirst().percentDecoded, key.utf8.starts(with: prefix.utf8)
    else { return .refused }
    let bytes = key.utf8.dropFirst(prefix.utf8.count)
    // An empty object whose key ends with a slash stands for a directory.
    if bytes.isEmpty || !isDirectory && bytes.last == UInt8(ascii: "/") { return .none }
    let path = String(Substring(isDirectory ? bytes.dropLast() : bytes))
    return entry(path.split(atASCII: "/", keepsEmpty: true).map(String.init), isDirectory)
  }

  private func entry(_ names: [String], _ isDirectory: Bool) -> Verdict {
    guard names.allSatisfy(Self.isUsable) else { return .refused }
    let encoded = names.map { $0.percentEncoded(allowing: .unreserved) }.joined(separator: "/")
    let text = "\(directory.string)\(encoded)\(isDirectory ? "/" : "")"
    guard let url = try? RequestURL(allowingS3: text) else { return .refused }
    return .entry(DirectoryEntry(path: names.joined(separator: "/"), isDirectory: isDirectory, url: url))
  }

  /// Whether a file may have this name here.
  private static func isUsable(_ name: String) -> Bool {
    guard !name.isEmpty, name != ".", name != "..", name.utf8.count <= SafeName.maximumBytes,
      !name.utf8.contains(UInt8(ascii: "/"))
    else { return false }
    return name.unicodeScalars.allSatisfy { scalar in
      scalar.value > 0x1F && !(0x7F...0x9F).contains(scalar.value) && !(0x202A...0x202E).contains(scalar.value)
        && !(0x2066...0x2069).contains(scalar.value)
    }
  }
}

extension RequestURL {
  /// The directory at a path below this one, which ends with a slash.
  /// - Parameter path: decoded names, joined by slashes.
  /// - Throws: `.invalidURL`.
  public func directory(at path: String) throws(TransferError) -> RequestURL {
    let names = path.split(atASCII: "/").map { String($0).percentEncoded(allowing: .unreserved) }
    return try RequestURL(allowingS3: string + names.joined(separator: "/") + "/")
  }
}
