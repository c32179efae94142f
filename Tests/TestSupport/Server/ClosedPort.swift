import Glibc

/// A port of 127.0.0.1 that refuses connections: its socket is bound but does not listen. It stays bound with the object.
public final class ClosedPort: Sendable {
  public let number: UInt16
  private let descriptor: Int32

  public init() throws {
    (descriptor, number) = try bindToLoopback()
  }

  deinit { close(descriptor) }
}
