/// A system call that changes a file, as strace reports it.
struct WriteCall: CustomStringConvertible {
  static let names = "write,pwrite64,pwritev,fsync,fdatasync,ftruncate,rename,renameat,renameat2,unlink,unlinkat"

  /// The call.
  let name: String
  /// The first argument: a file's path, or a descriptor with its path.
  let file: String
  /// The number of this call among those of the same name by the same thread, from 1: strace's `when`.
  let ordinal: Int

  var description: String { "\(name) \(ordinal) of \(file)" }

  /// Reads the log of `strace -f -y`.
  static func parse(_ log: String) -> [WriteCall] {
    var counts: [String: Int] = [:]
    return log.split(separator: "\n").compactMap { line in
      // 123   pwrite64(7</dir/file>, ""..., 4096, 0) = 4096
      guard let match = line.wholeMatch(of: /(\d+) +([a-z0-9]+)\(([^,)]*).*/) else { return nil }
      let name = String(match.2)
      let count = counts["\(match.1) \(name)", default: 0] + 1
      counts["\(match.1) \(name)"] = count
      return WriteCall(name: name, file: String(match.3), ordinal: count)
    }
  }

  /// Where a kill makes a difference: at every call, but of consecutive writes to one file only at the first, at one in the
  /// middle and at the last. A later start finds the same transaction unfinished after each of the others.
  static func killPoints(in calls: [WriteCall]) -> [WriteCall] {
    var points: [WriteCall] = []
    var run = calls[...]
    while let first = run.first {
      let same = run.prefix { $0.name == first.name && $0.file == first.file }
      run = run[same.endIndex...]
      let middle = same[same.startIndex + same.count / 2]
      points += same.count <= 3 ? Array(same) : [first, middle, same[same.endIndex - 1]]
    }
    return points
  }
}
