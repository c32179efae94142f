/// Environment variables that let a program act for a systemd service.
public enum ServiceVariables {
  /// Whether the name is a variable of sd_notify(3), sd_watchdog_enabled(3) or sd_listen_fds(3).
  public static func contains(_ name: String) -> Bool {
    name == "NOTIFY_SOCKET" || name.hasPrefix("WATCHDOG_") || name.hasPrefix("LISTEN_")
  }
}
