import Glibc
import Logging
import TransferEngine

/// Wakes the jobs that wait for their network interface when there is a new one. It does no work while the network is unchanged.
struct InterfaceWatch: Sendable {
  let scheduler: Scheduler

  /// Runs until the task is cancelled. It returns at once if the kernel has no rtnetlink; then such jobs look for their
  /// interface at their retry times.
  func run() async {
    guard let manager = NetworkReachabilityManager() else { return }
    var before = Self.usableInterfaces()
    for await _ in manager.changes() {
      let now = Self.usableInterfaces()
      if !now.isSubset(of: before) { await scheduler.interfaceAppeared() }
      before = now
    }
  }

  /// The interfaces that exist, once by name alone and once for each kind of address.
  private static func usableInterfaces() -> Set<String> {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else { return [] }
    defer { freeifaddrs(first) }
    var found: Set<String> = []
    for entry in sequence(first: first, next: { $0?.pointee.ifa_next }).prefix(while: { $0 != nil }) {
      guard let entry = entry?.pointee, let name = entry.ifa_name else { continue }
      found.insert("\(String(cString: name)) \(entry.ifa_addr?.pointee.sa_family ?? 0)")
    }
    return found
  }
}
