import FoundationEssentials
import HTTPTypes

/// The header fields of tus requests (tus.io/protocols/resumable-upload).
enum TusFields {
  /// `Upload-Metadata`: keys and base64 values. Keys with blanks or commas cannot be sent.
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
  /// The request to a place that a server names. Secrets are not sent to another origin. An https request stays https:
  /// a server behind a TLS proxy may name itself by http.
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
