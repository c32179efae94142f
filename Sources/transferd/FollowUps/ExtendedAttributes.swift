import CLinux
import Glibc

/// The extended attributes of users (`user.…`, xattr(7)), such as those that `xattr: true` notes.
enum ExtendedAttributes {
  /// The kernel's limit for the names of a file.
  private static let longestList = 1 << 16
  /// The kernel's limit for one value.
  private static let longestValue = 1 << 16
  /// Most bytes of values that are copied.
  private static let maximumBytes = 1 << 20

  /// Copies the attributes of an open file to another one, as many as the other file system keeps. One that cannot keep them is
  /// no reason to leave a file where it is.
  static func copy(from source: Int32, to target: Int32) {
    var value = [CChar](repeating: 0, count: longestValue)
    var rest = maximumBytes
    for name in names(of: source) {
      let length = Int(linux_get_attribute(source, name, &value, UInt64(value.count)))
      // Another program may have removed it meanwhile.
      guard length >= 0, length <= rest else { continue }
      rest -= length  // checked: at most rest
      _ = linux_set_attribute(target, name, value, UInt64(length))  // checked: not negative
    }
  }

  /// Each with the 0 at its end, as the kernel wants them: they need not be UTF-8.
  private static func names(of file: Int32) -> [[CChar]] {
    var list = [CChar](repeating: 0, count: longestList)
    let length = Int(linux_list_attributes(file, &list, UInt64(list.count)))
    guard length > 0 else { return [] }
    let prefix = "user.".utf8.map { CChar($0) }
    let all = list.prefix(length).split(separator: 0)  // checked: length is above 0
    return all.filter { $0.starts(with: prefix) }.map { Array($0) + [0] }
  }
}
