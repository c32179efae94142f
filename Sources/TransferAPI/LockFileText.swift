/// The content of `transferd.lock`: the process that holds the lock, and what it does before its socket is open.
public struct LockFileText: Equatable, Sendable, CustomStringConvertible {
  public var processID: Int32
  /// What the daemon is doing, for people; `nil` if it does nothing that takes long.
  public var status: String?

  public static let fileName = "transferd.lock"
  /// Longer texts are not read.
  public static let maximumBytes = 512

  public init(processID: Int32, status: String? = nil) {
    self.processID = processID
    self.status = status
  }

  /// - Returns: `nil` if the text does not begin with a process id on a line of its own.
  public init?(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count > 1, let processID = Int32(lines[0]), processID > 0 else { return nil }
    self.init(processID: processID, status: lines[1].isEmpty ? nil : String(lines[1]))
  }

  public var description: String { "\(processID)\n" + (status.map { $0 + "\n" } ?? "") }
}
