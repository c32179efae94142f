import FoundationEssentials
import HTTPTypes

/// What a tus server offers, as its answer to OPTIONS says.
struct TusServer: Sendable, Equatable {
  static let version = "1.0.0"

  var extensions: Set<String> = []
  var checksums: Set<String> = []
  var maximumSize: Int64?
  /// Found out by a 413.
  var chunkLimit: Int64?

  /// `nil` where the answer is not that of a tus server.
  init?(_ head: ResponseHead) {
    guard (200..<300).contains(head.status), head.field("Tus-Version") ?? head.field("Tus-Resumable") != nil else {
      return nil
    }
    extensions = Self.list(head.field("Tus-Extension"))
    checksums = Self.list(head.field("Tus-Checksum-Algorithm"))
    maximumSize = head.count("Tus-Max-Size")
  }

  private static func list(_ value: String?) -> Set<String> {
    Set((value ?? "").split(separator: ",").map { $0.trimmingBlanks().lowercased() })
  }
}

/// The fields of tus requests (tus.io/protocols/resumable-upload).
enum TusFields {
  /// `Upload-Metadata`: keys and base64 values. Keys that hold blanks or commas have no way to be sent.
  static func metadata(_ options: TusOptions, source: OpenSource) -> String {
    var values = options.metadata
    if values["filename"] == nil { values["filename"] = source.name }
    if values["filetype"] == nil { values["filetype"] = MediaTypeTable.mediaType(forFileName: source.name) }
    return values.sorted { $0.key < $1.key }
      .filter { key, _ in
        !key.isEmpty && key.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ",") }
      }
      .map { key, value in value.isEmpty ? key : "\(key) \(Data(value.utf8).base64EncodedString())" }
      .joined(separator: ",")
  }

  static func request(_ request: TransferRequest, _ method: HTTPRequest.Method) -> TransferRequest {
    var request = request
    request.method = method
    request.headers.set("Tus-Resumable", TusServer.version)
    return request
  }
}

extension TransferRequest {
  /// The same request to where a server says it shall go. Secrets do not go along to another origin, and https is not left:
  /// a server behind a TLS proxy that names itself by http is asked by https all the same.
  /// - Throws: `.redirect`.
  func moved(to location: String) throws(TransferError) -> TransferRequest {
    var location = location
    if url.scheme == "https", let target = try? url.resolving(location), target.scheme == "http",
      target.host == url.host, target.port == 80
    {
      let rest = target.string.dropFirst("http://\(target.host)".count)
      location = url.origin + (rest.hasPrefix(":80") ? rest.dropFirst(3) : rest)
    }
    return try RedirectRule.next(after: self, head: ResponseHead(status: 307, headers: [.location: location]))
  }
}
