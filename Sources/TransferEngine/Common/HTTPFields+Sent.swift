import HTTPTypes

extension HTTPFields {
  /// The fields as a request has them, with all cookies in one field (RFC 6265 §5.4). `HTTPFields` keeps each cookie of
  /// a value as a field of its own, which HTTP/2 allows; but servers of HTTP/1.1 read the first field only, or join
  /// them with commas.
  var asSent: [HTTPField] {
    var sent: [HTTPField] = []
    var hasCookies = false
    for field in self {
      guard field.name == .cookie else {
        sent.append(field)
        continue
      }
      if !hasCookies { sent.append(HTTPField(name: field.name, value: self[.cookie] ?? field.value)) }
      hasCookies = true
    }
    return sent
  }
}
