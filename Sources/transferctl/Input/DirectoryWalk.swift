import FoundationEssentials
import Glibc
import TransferAPI
import WireValues

/// All regular files below a directory, in the order of their names. Symbolic links and special files are skipped
/// and counted.
struct DirectoryWalk {
  private(set) var files: [String] = []
  private(set) var faults: [FileFault] = []
  private(set) var skipped = 0

  init(_ directory: String) { walk(directory) }

  private mutating func walk(_ directory: String) {
    guard let stream = opendir(directory) else {
      faults.append(SourceFiles.fault(directory, errno))
      return
    }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { text -> String? in
          if let name = String(validatingCString: text) { return name }
          faults.append(
            FileFault(
              status: .usage,
              description:
                "cannot upload a file in \(directory): its name is not UTF-8: \(String(cString: text)); rename it"))
          return nil
        }
      }
      if let name, name != ".", name != ".." { names.append(name) }
    }
    closedir(stream)
    for name in names.sorted() {
      let path = directory.appendingName(name)
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      switch status.st_mode & S_IFMT {
      case S_IFREG: files.append(path)
      case S_IFDIR: walk(path)
      default: skipped += 1
      }
    }
  }
}
