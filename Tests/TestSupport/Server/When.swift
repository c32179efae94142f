/// The requests to which a fault of a `FileBehaviour` applies.
///
/// GETs are counted from 0 per behaviour. A HEAD is treated like the next GET.
public struct When: Sendable {
  let holds: @Sendable (_ request: ServedRequest, _ ordinal: Int) -> Bool

  /// A condition on the request and the number of earlier GETs.
  public init(_ holds: @escaping @Sendable (_ request: ServedRequest, _ ordinal: Int) -> Bool) {
    self.holds = holds
  }

  public static let always = When { _, _ in true }
  /// The first `count` GETs.
  public static func first(_ count: Int) -> When { When { _, ordinal in ordinal < count } }
  /// All but the first `count` GETs.
  public static func after(_ count: Int) -> When { When { _, ordinal in ordinal >= count } }
  /// The GET with this number, counted from 0.
  public static func at(_ number: Int) -> When { When { _, ordinal in ordinal == number } }
  /// Requests with a `Range`.
  public static let ranged = When { request, _ in request.range != nil }
  /// Requests without a `Range`.
  public static let fresh = When { request, _ in request.range == nil }
  /// Requests with an `If-Range`.
  public static let conditional = When { request, _ in request.headers["If-Range"] != nil }
  /// Requests for one path.
  public static func path(_ path: String) -> When { When { request, _ in request.path == path } }

  public static func && (first: When, second: When) -> When {
    When { first.holds($0, $1) && second.holds($0, $1) }
  }
}
