import WireValues
import XMLReader

/// Reads the XML documents in which servers list directories.
struct XMLListParser: ListingParser {
  /// A directory may have a million entries, each with about ten elements.
  private static let maximumElements = 1 << 26

  private let state: Document
  private let reader: XMLReader

  /// - Throws: `.response(.malformed)` if the XML library is missing.
  init(_ form: Form) throws(TransferError) {
    let state = Document(form)
    var limits = XMLReader.Limits()
    limits.elements = Self.maximumElements
    self.state = state
    do {
      reader = try XMLReader(limits: limits) { state.take($0) }
    } catch {
      throw Self.failure(error)
    }
  }

  enum Form: Sendable {
    /// The response to PROPFIND (RFC 4918 §13).
    case multistatus
    /// The response to ListObjectsV2.
    case bucket
  }

  /// The continuation token, if there are more pages.
  var nextPage: String? { state.isTruncated ? state.token : nil }

  mutating func read(_ bytes: some Collection<UInt8>, _ report: (ListedItem) -> Void) throws(TransferError) {
    do {
      try reader.read(bytes)
    } catch {
      throw Self.failure(error)
    }
    drain(report)
  }

  mutating func finish(_ report: (ListedItem) -> Void) throws(TransferError) {
    do {
      try reader.finish()
    } catch {
      throw Self.failure(error)
    }
    drain(report)
    guard state.hasRoot else { throw .response(.malformed("the response is no list of a directory")) }
  }

  private func drain(_ report: (ListedItem) -> Void) {
    for item in state.items { report(item) }
    state.items.removeAll(keepingCapacity: true)
  }

  private static func failure(_ error: any Error) -> TransferError {
    .response(.malformed("the list of the directory cannot be read: \(error)"))
  }

  /// The open elements of a document and what they have said so far.
  private final class Document {
    let form: Form
    var items: [ListedItem] = []
    var hasRoot = false
    var isTruncated = false
    var token: String?
    private var path: [XMLName] = []
    private var reference: String?
    private var isCollection = false
    private var isEncoded = false

    init(_ form: Form) { self.form = form }

    func take(_ event: XMLEvent) {
      switch event {
      case .start(let name, _):
        path.append(name)
        if path.count == 1 { hasRoot = name.local == (form == .multistatus ? "multistatus" : "ListBucketResult") }
        if form == .multistatus, names(1...) == ["response"] { (reference, isCollection) = (nil, false) }
        if form == .multistatus, name.local == "collection", path.dropLast().last?.local == "resourcetype" {
          isCollection = true
        }
      case .text(let text): if hasRoot { read(text) }
      case .end:
        if form == .multistatus, hasRoot, names(1...) == ["response"] {
          items.append(reference.map { .reference($0, isDirectory: isCollection) } ?? .unusable)
        }
        path.removeLast()
      }
    }

    private func names(_ range: PartialRangeFrom<Int>) -> [String] {
      path.count <= range.lowerBound || path.count > 3 ? [] : path[range].map(\.local)
    }

    private func read(_ text: String) {
      switch (form, names(1...)) {
      case (.multistatus, ["response", "href"]): reference = String(text.trimming(while: \.isWhitespace))
      case (.bucket, ["EncodingType"]): isEncoded = text.trimming(while: \.isWhitespace) == "url"
      case (.bucket, ["IsTruncated"]): isTruncated = text.trimming(while: \.isWhitespace) == "true"
      case (.bucket, ["NextContinuationToken"]): token = text
      case (.bucket, ["Contents", "Key"]): items.append(decoded(text).map { .key($0) } ?? .unusable)
      case (.bucket, ["CommonPrefixes", "Prefix"]): items.append(decoded(text).map { .prefix($0) } ?? .unusable)
      default: break
      }
    }

    /// Keys are percent-encoded because XML cannot hold every character; a blank is a plus sign.
    private func decoded(_ text: String) -> String? {
      isEncoded ? text.replacing("+", with: " ").percentDecoded : text
    }
  }
}
