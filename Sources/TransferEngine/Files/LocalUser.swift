import Glibc

/// The user of this process, for URLs and paths that name none.
enum LocalUser {
  static let name: String = entry { $0.pw_name } ?? "nobody"
  static let home: String = {
    if let home = getenv("HOME"), home.pointee != 0 { return String(cString: home) }
    return entry { $0.pw_dir } ?? "/nonexistent"
  }()

  private static func entry(_ field: (passwd) -> UnsafeMutablePointer<CChar>?) -> String? {
    var record = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16 * 1024)
    guard getpwuid_r(getuid(), &record, &buffer, buffer.count, &found) == 0, let found else { return nil }
    return field(found.pointee).map { String(cString: $0) }
  }
}
