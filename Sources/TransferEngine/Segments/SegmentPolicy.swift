/// How many connections fetch one file. Only a file whose length is known and that can be recognised (a strong validator or
/// a digest) is fetched by more than one.
public enum SegmentPolicy: Sendable, Equatable {
  /// Up to this many, at once; 1 to 32. Each of them fetches at least 1 MiB.
  case fixed(Int)
  /// One, and up to this many for files above 64 MiB while each further one makes the download measurably faster.
  case automatic(upTo: Int)

  /// One connection.
  public static let one = SegmentPolicy.fixed(1)

  /// The most connections of one file.
  public static let maximumConnections = 32
  /// The most connections of `automatic`, unless another number is given.
  public static let automaticConnections = 4

  /// With mirrors, `automatic` uses as many of the sources at once.
  public static let automaticSources = 5
  /// Smaller files are fetched from one source, unless a number of connections is given.
  static let minimumTotalWithMirrors: Int64 = 2 << 20

  var maximum: Int {
    switch self {
    case .fixed(let count), .automatic(let count): min(max(1, count), Self.maximumConnections)
    }
  }

  /// Files of fewer bytes are fetched by one connection.
  var minimumTotal: Int64 {
    switch self {
    case .fixed: 2 * SegmentPlan.minimumRest
    case .automatic: 64 << 20
    }
  }

  /// Whether a file of this length may be fetched by more than one connection.
  /// - Parameter hasMirrors: connections with several sources need not show that they help.
  func mayUse(forTotal total: Int64, hasMirrors: Bool = false) -> Bool {
    let minimum = hasMirrors ? min(minimumTotal, Self.minimumTotalWithMirrors) : minimumTotal
    return maximum > 1 && total > minimum && total <= SegmentPlan.maximumTotal
  }
}

/// How a download uses several connections.
public struct Segmentation: Sendable {
  /// How many.
  public var policy: SegmentPolicy
  /// Asked by an automatic download before each further connection; `nil`: every connection is permitted.
  public var permits: (any ConnectionPermits)?
  /// The time between two measurements of an automatic download.
  var interval = Duration.seconds(2)

  /// One connection, unless told otherwise.
  public init(_ policy: SegmentPolicy = .one, permits: (any ConnectionPermits)? = nil) {
    self.policy = policy
    self.permits = permits
  }
}

/// Decides whether automatic downloads may have further connections, such as a queue that limits the connections with a server.
public protocol ConnectionPermits: Sendable {
  /// Whether the download may have one more connection than its first one and those that it has acquired.
  func acquire() async -> Bool
  /// One acquired connection is given back. Called once for each; all are given back when the transfer has ended.
  func release() async
}
