import Glibc

/// A port of 127.0.0.1 that refuses, for as long as the object is there: a socket has it, and does not listen.
public final class ClosedPort: Sendable {
  public let number: UInt16
  private let descriptor: Int32

  public init() throws {
    (descriptor, number) = try bindToLoopback()
  }

  deinit { close(descriptor) }
}
