import NIOCore

/// The memory, descriptors and time that clients may use.
public struct ServerLimits: Sendable {
  /// Connections at once, of all users. Further ones wait in the socket's queue.
  public var connections: Int
  /// Connections at once of one user who is not privileged.
  public var connectionsPerUser = 64
  /// Users without a limit of their own: the daemon's user and root. The others together get at most half of the
  /// connections and three quarters of the memory, so that they cannot lock out the privileged users.
  public var privilegedUsers: Set<UInt32> = []

  /// A request line and its fields, in bytes. A longer one is answered with 431 (RFC 6585 §5).
  public var headBytes = 16 << 10
  /// The target in the request line, in bytes. A longer one is answered with 414.
  public var targetBytes = 8 << 10
  /// Fields of one request. More are answered with 431.
  public var headFields = 100
  /// From the first byte of a head to its end. A slower one is answered with 408.
  public var headTimeout = TimeAmount.seconds(10)

  /// Time without a byte: between two requests, and while a body is awaited.
  public var idleTimeout = TimeAmount.seconds(60)
  /// Time in which a client must take some bytes of a response that is waiting for it. It is measured in steps of this length,
  /// so the connection lasts at most twice as long.
  public var readerTimeout = TimeAmount.seconds(60)
  /// A body that is collected in memory has this time, and one second more for each `bodyBytesPerSecond` received.
  public var bodyTimeout = TimeAmount.seconds(60)
  /// The slowest rate at which a collected body may arrive once `bodyTimeout` is over.
  public var bodyBytesPerSecond = 16 << 10
  /// Time in which a request waits for its share of `bodyMemory` before it is answered with 503.
  public var memoryTimeout = TimeAmount.seconds(10)
  /// Time in which the rest of a request is read and discarded after its response.
  public var drainTimeout = TimeAmount.seconds(5)
  /// Bytes of a body that are discarded so that its connection can be used again; with more it is closed.
  public var drainBytes = 1 << 20

  /// Memory for collected bodies of all connections, in bytes.
  public var bodyMemory = 32 << 20
  /// The part of `bodyMemory` that one user who is not privileged may hold, in bytes.
  public var bodyMemoryPerUser = 8 << 20
  /// Bodies up to this size, in bytes, are not counted in `bodyMemory`: the number of connections bounds them.
  public var freeBodyBytes = 16 << 10

  /// The greatest piece that is read from a connection at once, in bytes.
  public var readBytes = 32 << 10

  /// - Parameter connections: at least 2.
  public init(connections: Int) { self.connections = max(2, connections) }

  func isPrivileged(_ uid: UInt32?) -> Bool { uid.map(privilegedUsers.contains) ?? false }

  /// Connections of all users who are not privileged.
  var connectionsOfOthers: Int { max(1, connections / 2) }

  /// Memory for collected bodies of all users who are not privileged.
  var bodyMemoryOfOthers: Int { bodyMemory - bodyMemory / 4 }  // checked: less than bodyMemory
}
