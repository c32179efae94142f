import HTTPTypes

/// Which redirects may be followed, and which parts of a request are sent to the new URL. Pure.
enum RedirectRule {
  /// Redirects that are followed for one request; curl's default is 50, browsers' 20.
  static let maximumRedirects = 20

  /// Fields that reveal nothing about the user and may be sent to another origin. All others are removed: libcurl would
  /// send cookies and custom fields.
  static let harmless: Set<HTTPField.Name> = [
    .accept, .acceptLanguage, .acceptEncoding, .userAgent, .range, .ifRange, .ifNoneMatch, .ifModifiedSince,
    .cacheControl,
  ]

  /// Fields that describe the body: they are sent together with the body.
  private static let aboutBody: Set<HTTPField.Name> = [
    .contentType, .contentEncoding, .contentLanguage, .contentDisposition,
  ]

  /// The request that follows a redirect (RFC 9110 §15.4).
  /// - Throws: `.redirect` if there is no Location, if https would become http, if the scheme is not http or https, or
  ///   if the request's policy allows only its own origin.
  static func next(after request: TransferRequest, head: ResponseHead) throws(TransferError) -> TransferRequest {
    // The first one: two that stand in a head, usually equal, would be joined to a URL of neither.
    guard let location = head.headers[values: .location].first, !location.isEmpty else {
      throw .redirect(.missingLocation(status: head.status))
    }
    let target: RequestURL
    do {
      target = try request.url.resolving(location)
    } catch .unsupportedScheme(let scheme) {
      throw .redirect(.unsupportedScheme(scheme))
    } catch {
      throw .redirect(.refused(to: "an unreadable address", reason: "\(error)"))
    }
    guard target.isHTTP else {
      throw .redirect(.unsupportedScheme(target.scheme))
    }
    if request.url.scheme == "https", target.scheme != "https" {
      throw .redirect(.refused(to: target.origin, reason: "it would leave https"))
    }
    if request.redirects == .sameOrigin, target.origin != request.url.origin {
      throw .redirect(.refused(to: target.origin, reason: "it is not the origin \(request.url.origin) that named it"))
    }
    var next = request.moved(to: target)
    next.isNamedByServer = true
    // Userinfo in a Location comes from the server, not from the user: it is not used.
    if target.origin != request.url.origin { (next.credentials, next.credential) = (nil, nil) }
    switch head.status {
    case 303 where request.method != .head: next.method = .get
    case 301 where request.method == .post, 302 where request.method == .post: next.method = .get
    default: break
    }
    if next.method == .get || next.method == .head { next.body = nil }
    if next.body == nil, request.body != nil {
      next.headers = HTTPFields(next.headers.filter { !aboutBody.contains($0.name) })
    }
    return next
  }

  /// Which fields may be sent to another origin.
  fileprivate static func mayLeave(_ field: HTTPField.Name) -> Bool {
    harmless.contains(field) || aboutBody.contains(field)
  }
}

extension TransferRequest {
  /// The same request for another URL. At another origin it has nothing that was meant for this one: no credentials, except those
  /// of the URL itself, no client certificate, and only header fields that reveal nothing.
  public func moved(to target: RequestURL) -> TransferRequest {
    var moved = self
    moved.url = target
    guard target.origin != url.origin else { return moved }
    moved.headers = HTTPFields(moved.headers.filter { RedirectRule.mayLeave($0.name) })
    (moved.credentials, moved.credential, moved.signer) = (target.credentials, nil, nil)
    moved.connection.clientIdentity = nil
    moved.hasLeftOrigin = true
    return moved
  }
}
