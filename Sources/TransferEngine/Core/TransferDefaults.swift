/// Defaults that the process decides once.
public enum TransferDefaults {
  /// Fixes the permissions of finished files by the current umask. Call it early if the process changes its umask
  /// later; otherwise the first finished file fixes them.
  public static func adoptPermissions() { _ = FileMode.ordinary }
}
