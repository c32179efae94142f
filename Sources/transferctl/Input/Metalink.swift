import FoundationEssentials
import TransferAPI
import WireValues
import XMLReader

/// A Metalink document (RFC 5854): files, each with the URLs of its copies and its digests.
struct Metalink: Equatable, Sendable {
  let files: [MetalinkFile]

  static let maximumBytes = 32 << 20
  static let maximumFiles = 10_000
  /// Of one file. More are not read.
  static let maximumURLs = 1000
  static let namespace = "urn:ietf:params:xml:ns:metalink"
  private static let namespaceOfVersion3 = "http://www.metalinker.org/"

  /// - Throws: `WireError` that says what is wrong. It completes "the Metalink …".
  init(_ bytes: [UInt8]) throws(WireError) {
    guard bytes.count <= Self.maximumBytes else {
      throw WireError("is longer than \(Self.maximumBytes >> 20) MiB")
    }
    var builder = MetalinkBuilder()
    var failure: WireError?
    do {
      let reader = try XMLReader { event in
        do throws(WireError) {
          try builder.take(event)
        } catch {
          failure = error
          throw error
        }
      }
      try reader.read(bytes)
      try reader.finish()
    } catch {
      throw failure ?? WireError("cannot be read: \(error)")
    }
    guard builder.isMetalink else { throw WireError("is no Metalink: its root is not <metalink>") }
    guard !builder.files.isEmpty else { throw WireError("names no file") }
    files = builder.files
  }

  /// Why a document with this root is not read; `nil`: it is a Metalink.
  static func fault(ofRoot name: XMLName) -> WireError? {
    guard name.local == "metalink" else { return WireError("is no Metalink: its root is <\(name.local.printable)>") }
    if name.namespace == namespace { return nil }
    if name.namespace == namespaceOfVersion3 || name.namespace.isEmpty {
      return WireError("has version 3, which is not read; use a Metalink 4 (.meta4, RFC 5854)")
    }
    return WireError("has an unknown namespace, \(name.namespace.printable)")
  }
}

/// Collects the files of a Metalink from its elements. Elements that are not known are passed over, as RFC 5854 §6 asks for.
struct MetalinkBuilder {
  private(set) var isMetalink = false
  private(set) var files: [MetalinkFile] = []

  private var names: Set<String> = []
  /// Open elements, without the root.
  private var path: [String] = []
  /// How many open elements are not known.
  private var skipped = 0
  private var attributes: [String: String] = [:]
  private var text = ""
  private var file: Draft?

  /// A file while its elements are read.
  private struct Draft {
    var name: String
    var size: Int64?
    var checksum: Checksum?
    var urls: [(priority: Int, url: String)] = []
    var pieces: (algorithm: Checksum.Algorithm, length: Int64)?
    var digests: [UInt8] = []
    var best: FilePieces?
    var hasTooManyPieces = false
  }

  mutating func take(_ event: XMLEvent) throws(WireError) {
    switch event {
    case .start(let name, let attributes): try start(name, attributes)
    case .end: try end()
    case .text(let text): self.text = text
    }
  }

  private mutating func start(_ name: XMLName, _ attributes: [XMLAttribute]) throws(WireError) {
    text = ""
    guard isMetalink else {
      if let fault = Metalink.fault(ofRoot: name) { throw fault }
      isMetalink = true
      return
    }
    guard skipped == 0, name.namespace == Metalink.namespace, Self.isKnown(name.local, below: path) else {
      skipped += 1  // checked: at most the reader's depth
      return
    }
    path.append(name.local)
    self.attributes = [:]
    for attribute in attributes where attribute.name.namespace.isEmpty {
      self.attributes[attribute.name.local] = attribute.value
    }
    switch path {
    case ["file"]: try beginFile()
    case ["file", "pieces"]: try beginPieces()
    default: break
    }
  }

  private static func isKnown(_ name: String, below path: [String]) -> Bool {
    switch path {
    case []: name == "file"
    case ["file"]: ["size", "hash", "url", "pieces"].contains(name)
    case ["file", "pieces"]: name == "hash"
    default: false
    }
  }

  private mutating func end() throws(WireError) {
    defer { text = "" }
    if skipped > 0 {
      skipped -= 1
      return
    }
    // The root has ended.
    guard !path.isEmpty else { return }
    let content = text.trimmingWhitespace
    switch path {
    case ["file"]: try endFile()
    case ["file", "size"]:
      guard let size = Int64(content), size >= 0 else { throw fault("its size is not a number of bytes") }
      file?.size = size
    case ["file", "hash"]: try takeHash(content)
    case ["file", "url"]: try takeURL(content)
    case ["file", "pieces"]: endPieces()
    case ["file", "pieces", "hash"]: try takePiece(content)
    default: break
    }
    path.removeLast()
  }

  private func fault(_ reason: String) -> WireError {
    WireError("cannot be used: the file \"\((file?.name ?? "").printable)\": \(reason)")
  }

  // MARK: Files

  private mutating func beginFile() throws(WireError) {
    guard files.count < Metalink.maximumFiles else { throw WireError("has more than \(Metalink.maximumFiles) files") }
    guard let name = attributes["name"] else { throw WireError("has a file without a name") }
    let checked = try MetalinkFile.checked(name: name)
    guard names.insert(checked).inserted else { throw WireError("names the file \"\(checked.printable)\" twice") }
    file = Draft(name: checked)
  }

  private mutating func endFile() throws(WireError) {
    guard let draft = file else { return }
    // URLs with the same priority stay in their order.
    var urls: [String] = []
    for (_, entry) in draft.urls.enumerated().sorted(by: {
      ($0.element.priority, $0.offset) < ($1.element.priority, $1.offset)
    }) where !urls.contains(entry.url) { urls.append(entry.url) }
    guard !urls.isEmpty else { throw fault("it has no http or https URL") }
    var pieces = draft.best
    if let found = pieces, let size = draft.size {
      guard found.cover(size) else { throw fault("its pieces do not match its size") }
    } else {
      // The pieces may be those of a longer file: the length is unknown.
      pieces = nil
    }
    if draft.hasTooManyPieces, pieces == nil, draft.checksum == nil {
      throw fault("it has too many pieces, and no digest of the whole file")
    }
    files.append(
      MetalinkFile(
        name: draft.name, size: draft.size, checksum: draft.checksum, pieces: pieces,
        urls: Array(urls.prefix(1 + JobOptions.maximumMirrors))))  // checked: a constant
    file = nil
  }

  private mutating func takeURL(_ text: String) throws(WireError) {
    let lowercased = text.lowercased()
    guard lowercased.hasPrefix("http://") || lowercased.hasPrefix("https://"),
      text.utf8.count <= JobOptions.maximumMirrorBytes, file?.urls.count ?? 0 < Metalink.maximumURLs
    else { return }
    do throws(WireError) {
      try Syntax.check(url: text)
    } catch {
      throw fault(error.description)
    }
    var priority = 999_999
    if let given = attributes["priority"] {
      guard let number = Int(given), (1...999_999).contains(number) else {
        throw fault("a priority is not a number from 1 to 999999")
      }
      priority = number
    }
    file?.urls.append((priority, text))
  }

  /// Of several digests the strongest one counts: it is the longest.
  private mutating func takeHash(_ text: String) throws(WireError) {
    guard let algorithm = Self.algorithm(attributes["type"]) else { return }
    do throws(WireError) {
      let checksum = try Checksum(parsing: "\(algorithm.rawValue)=\(text)")
      if algorithm.byteCount > file?.checksum?.algorithm.byteCount ?? 0 { file?.checksum = checksum }
    } catch {
      throw fault(error.description)
    }
  }

  private static func algorithm(_ type: String?) -> Checksum.Algorithm? {
    type.flatMap { Checksum.Algorithm(rawValue: $0.lowercased()) }
  }

  // MARK: Pieces

  private mutating func beginPieces() throws(WireError) {
    file?.pieces = nil
    file?.digests = []
    guard let algorithm = Self.algorithm(attributes["type"]) else { return }
    guard let length = attributes["length"].flatMap({ Int64($0) }), FilePieces.lengths.contains(length) else {
      throw fault("the length of its pieces is not a number from 1024 to 1073741824")
    }
    file?.pieces = (algorithm, length)
  }

  private mutating func takePiece(_ text: String) throws(WireError) {
    guard let algorithm = file?.pieces?.algorithm, file?.hasTooManyPieces == false else { return }
    guard let digest = [UInt8](hex: text), digest.count == algorithm.byteCount else {
      throw fault("the digest of a piece is not \(algorithm.byteCount * 2) hexadecimal digits")  // checked: a constant
    }
    guard (file?.digests.count ?? 0) <= FilePieces.maximumBytes - algorithm.byteCount else {  // checked: constants
      file?.hasTooManyPieces = true
      file?.digests = []
      return
    }
    file?.digests += digest
  }

  private mutating func endPieces() {
    guard let (algorithm, length) = file?.pieces, let digests = file?.digests, !digests.isEmpty else { return }
    let known = file?.best.flatMap { Checksum.Algorithm(rawValue: $0.algorithm) }
    guard algorithm.byteCount > known?.byteCount ?? 0 else { return }
    file?.best = FilePieces(algorithm: algorithm, length: length, digests: Data(digests))
  }
}

extension String {
  /// Without blanks and line ends around it.
  fileprivate var trimmingWhitespace: String {
    let blanks: Set<UInt8> = [9, 10, 13, 32]
    let start = utf8.firstIndex { !blanks.contains($0) } ?? endIndex
    let end = utf8.lastIndex { !blanks.contains($0) }.map { utf8.index(after: $0) } ?? start
    // checked: end is after the last byte that is no blank, or start
    return String(self[start..<end])
  }
}
