import HTTPTypes

extension Session {
  /// The header fields of one transfer: the session's, replaced by the request's own, its cookies and its credential.
  func headerFields(of request: TransferRequest) -> HTTPFields {
    var headers = configuration.defaultHeaders
    if request.hasLeftOrigin { headers = HTTPFields(headers.filter { RedirectRule.harmless.contains($0.name) }) }
    for name in Set(request.headers.map(\.name)) { headers[fields: name] = request.headers[fields: name] }
    if headers[.cookie] == nil, let cookies = Cookie.field(request.connection.cookies, for: request.url) {
      headers[.cookie] = cookies
    }
    if case .bearer(let token) = request.credential { headers[.authorization] = "Bearer \(token)" }
    // This field would be sent to the origin; proxies have their own credentials (`ProxyServer.credentials`).
    headers[.proxyAuthorization] = nil
    return headers
  }
}
