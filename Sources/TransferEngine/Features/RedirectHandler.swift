import HTTPTypes

/// Decides about redirects. The rules of `RedirectRule` come first: what they refuse, no handler can allow.
public protocol RedirectHandler: Sendable {
  /// - Parameter request: what would be sent next, already stripped of what belongs to another origin.
  /// - Parameter previous: the request that was answered with the redirect.
  /// - Parameter response: the redirect's own head.
  func redirect(
    _ request: TransferRequest, from previous: TransferRequest, response: ResponseHead
  ) async -> RedirectAction
}

/// What a redirect handler decides.
public enum RedirectAction: Sendable {
  /// Send what the rules say. An upload that would lose its body fails instead.
  case follow
  /// The redirect itself is the answer.
  case doNotFollow
  /// Send this. Whatever it carries is the handler's choice.
  case modify(TransferRequest)
}

/// Alamofire's `Redirector`: one behaviour for all redirects.
public struct Redirector: RedirectHandler {
  /// What is done with every redirect.
  public enum Behavior: Sendable {
    /// It is followed as RFC 9110 §15.4 says.
    case follow
    /// It is not followed: its own answer is the outcome.
    case doNotFollow
    /// The closure decides, and may change the request.
    case modify(@Sendable (TransferRequest, ResponseHead) -> TransferRequest?)
  }

  /// What is done with every redirect.
  public let behavior: Behavior

  /// Does this with every redirect.
  public init(behavior: Behavior) { self.behavior = behavior }

  public func redirect(
    _ request: TransferRequest, from previous: TransferRequest, response: ResponseHead
  ) async -> RedirectAction {
    switch behavior {
    case .follow: .follow
    case .doNotFollow: .doNotFollow
    case .modify(let change): change(request, response).map(RedirectAction.modify) ?? .doNotFollow
    }
  }
}

extension RedirectHandler where Self == Redirector {
  /// Follows, as sessions do by default.
  public static var follow: Redirector { Redirector(behavior: .follow) }
  /// Follows none: the redirect's own answer is the outcome.
  public static var doNotFollow: Redirector { Redirector(behavior: .doNotFollow) }
  /// - Parameter closure: answers what is sent next, or `nil` to take the redirect as the answer.
  public static func modify(
    using closure: @escaping @Sendable (TransferRequest, ResponseHead) -> TransferRequest?
  ) -> Redirector {
    Redirector(behavior: .modify(closure))
  }
}

/// What may follow a redirect, and what of a request goes with it. Pure.
enum RedirectRule {
  /// Redirects followed for one request; the curl command's default is 50, browsers' 20.
  static let maximumRedirects = 20

  /// Fields that say nothing about the user and may go to another origin. All others stay behind: libcurl would
  /// carry cookies and custom fields along.
  static let harmless: Set<HTTPField.Name> = [
    .accept, .acceptLanguage, .acceptEncoding, .userAgent, .range, .ifRange, .cacheControl,
  ]

  /// Fields that describe the body: they go where it goes.
  private static let aboutBody: Set<HTTPField.Name> = [
    .contentType, .contentEncoding, .contentLanguage, .contentDisposition,
  ]

  /// The next hop (RFC 9110 §15.4).
  /// - Throws: `.redirect` where there is no Location, where https would become http, the scheme is none of ours, or the
  ///   request's policy keeps it to its origin.
  static func next(after request: TransferRequest, head: ResponseHead) throws(TransferError) -> TransferRequest {
    guard let location = head.headers[.location], !location.isEmpty else {
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
    var next = request
    next.url = target
    next.isNamedByServer = true
    switch head.status {
    case 303 where request.method != .head: next.method = .get
    case 301 where request.method == .post, 302 where request.method == .post: next.method = .get
    default: break
    }
    if next.method == .get || next.method == .head { next.body = nil }
    if next.body == nil, request.body != nil {
      next.headers = HTTPFields(next.headers.filter { !aboutBody.contains($0.name) })
    }
    if target.origin != request.url.origin {
      next.headers = HTTPFields(next.headers.filter { harmless.contains($0.name) || aboutBody.contains($0.name) })
      next.credentials = nil
      next.credential = nil
      next.hasLeftOrigin = true
    }
    // Userinfo in a Location is the server's idea, not the user's: it is dropped by RequestURL and not used.
    return next
  }
}
