import HTTPTypes

extension Session {
  /// The fields of one hop: the session's, replaced by the request's own, and what its credential adds.
  func headerFields(of request: TransferRequest) -> HTTPFields {
    var headers = configuration.defaultHeaders
    if request.hasLeftOrigin { headers = HTTPFields(headers.filter { RedirectRule.harmless.contains($0.name) }) }
    for name in Set(request.headers.map(\.name)) { headers[fields: name] = request.headers[fields: name] }
    if case .bearer(let token) = request.credential { headers[.authorization] = "Bearer \(token)" }
    // It would go to the origin: proxies have their own (`ProxyServer.credentials`).
    headers[.proxyAuthorization] = nil
    return headers
  }
}
