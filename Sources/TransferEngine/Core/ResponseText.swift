import HTTPTypes

/// Responses as text, for people and logs.
enum ResponseText {
  /// Fields whose values may be shown; of all others only the names are shown.
  private static let harmless: Set<HTTPField.Name> = [
    .contentType, .contentLength, .contentRange, .contentEncoding, .acceptRanges, .date, .server, .retryAfter,
    .transferEncoding, .eTag, .lastModified,
  ]

  static func result<Success, Failure: Error>(_ result: Result<Success, Failure>) -> String {
    switch result {
    case .success: "success(\(Success.self))"
    case .failure(let error): "failure(\(error))"
    }
  }

  static func head(_ head: ResponseHead) -> String {
    let fields = head.headers.map { field in
      harmless.contains(field.name) ? "\(field.name): \(field.value)" : "\(field.name): …"
    }
    return (["\(head.version) \(head.status)"] + fields).joined(separator: "\n    ")
  }

  static func lines<Success, Failure: Error>(
    _ request: TransferRequest?, _ head: ResponseHead?, body: String, _ metrics: [TransferMetrics],
    _ serialization: Duration, _ result: Result<Success, Failure>
  ) -> String {
    let network = metrics.reduce(Duration.zero) { $0 + $1.total }  // checked: times that passed
    return """
      [Request]: \(request?.description ?? "none")
      [Response]: \(head.map(Self.head) ?? "none")
      [Body]: \(body)
      [Network Duration]: \(network.inSeconds) s in \(metrics.count) transfers
      [Serialization Duration]: \(serialization.inSeconds) s
      [Result]: \(Self.result(result))
      """
  }
}

extension ResponseHead: CustomStringConvertible {
  /// The status line and the fields. Values that may be secret are left out, and so is the URL.
  public var description: String { ResponseText.head(self) }
}
