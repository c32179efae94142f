import WireValues

/// A request in the form that client and server hash
/// (docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
struct AWSCanonicalRequest {
  var method: String
  /// In canonical form.
  var path: String
  /// In canonical form.
  var query: String
  /// Names in any case; a name may occur several times.
  var headers: [(name: String, value: String)]
  var payloadHash: String

  /// Names in lower case, sorted, separated by `;`.
  var signedHeaders: String { grouped.map(\.name).joined(separator: ";") }

  var text: String {
    let lines = grouped.map { "\($0.name):\($0.values.joined(separator: ","))\n" }.joined()
    return [method, path, query, lines, signedHeaders, payloadHash].joined(separator: "\n")
  }

  /// Values of one name keep their order.
  private var grouped: [(name: String, values: [String])] {
    var values: [String: [String]] = [:]
    for (name, value) in headers { values[name.lowercased(), default: []].append(Self.collapsed(value)) }
    return values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Without blanks around it, and with each run of blanks replaced by one.
  private static func collapsed(_ value: String) -> String {
    value.trimmingBlanks().split(separator: " ").joined(separator: " ")
  }
}
