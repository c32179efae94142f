import FoundationEssentials
import Synchronization
import WireValues

/// The environment of the commands that this process starts: hooks, `exec:` secrets, `credential_process`.
///
/// Commands inherit the `standard` variables and those that the configuration names. They do not inherit anything else,
/// such as cloud keys, tokens and the sockets of the service manager.
package enum ChildEnvironment {
  /// Variables that every command inherits when they are set (environ(7)), besides `LC_…`.
  package static let standard: Set<String> = [
    "HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER", "XDG_RUNTIME_DIR",
  ]

  private static let passed = Mutex<Set<String>>([])

  /// Sets the variables that commands inherit besides the standard ones.
  package static func pass(_ names: some Sequence<String>) { passed.withLock { $0 = Set(names) } }

  /// The environment of a command that starts now.
  package static var current: [String: String] {
    variables(of: ProcessInfo.processInfo.environment, passing: passed.withLock { $0 })
  }

  /// The part of an environment that a command inherits.
  package static func variables(of environment: [String: String], passing names: Set<String>) -> [String: String] {
    environment.filter { name, _ in
      isPassable(name) && (standard.contains(name) || name.hasPrefix("LC_") || names.contains(name))
    }
  }

  /// Whether the configuration may name the variable: a valid name that is not in `ServiceVariables`.
  package static func isPassable(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, !("0"..."9").contains(first) else { return false }
    let isName = name.unicodeScalars.allSatisfy {
      ("A"..."Z").contains($0) || ("a"..."z").contains($0) || ("0"..."9").contains($0) || $0 == "_"
    }
    return isName && !ServiceVariables.contains(name)
  }
}
