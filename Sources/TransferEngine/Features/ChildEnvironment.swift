import FoundationEssentials
import Synchronization

/// The environment of the commands that this process starts: hooks, `exec:` secrets, `credential_process`.
///
/// They get what a program needs to find its files and to speak its user's language, and the variables that the configuration
/// names. Everything else stays here: cloud keys, tokens, and the sockets by which a service speaks to its manager.
package enum ChildEnvironment {
  /// Passed on where they are set (environ(7)); `LC_…` too.
  package static let standard: Set<String> = [
    "HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER", "XDG_RUNTIME_DIR",
  ]

  private static let passed = Mutex<Set<String>>([])

  /// The variables that are passed on beside the standard ones, from now on.
  package static func pass(_ names: some Sequence<String>) { passed.withLock { $0 = Set(names) } }

  /// The environment of a command that begins now.
  package static var current: [String: String] {
    variables(of: ProcessInfo.processInfo.environment, passing: passed.withLock { $0 })
  }

  /// Pure.
  package static func variables(of environment: [String: String], passing names: Set<String>) -> [String: String] {
    environment.filter { name, _ in
      isPassable(name) && (standard.contains(name) || name.hasPrefix("LC_") || names.contains(name))
    }
  }

  /// Whether the configuration may name the variable: not those of sd_notify(3), sd_watchdog_enabled(3) and sd_listen_fds(3).
  package static func isPassable(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, !("0"..."9").contains(first) else { return false }
    let isName = name.unicodeScalars.allSatisfy {
      ("A"..."Z").contains($0) || ("a"..."z").contains($0) || ("0"..."9").contains($0) || $0 == "_"
    }
    return isName && !speaksForService(name)
  }

  /// Whether a program that has the variable could take itself for a service of systemd's, and speak for it.
  package static func speaksForService(_ name: String) -> Bool {
    name == "NOTIFY_SOCKET" || name.hasPrefix("WATCHDOG_") || name.hasPrefix("LISTEN_")
  }
}
