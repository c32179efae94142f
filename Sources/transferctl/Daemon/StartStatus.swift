import FoundationEssentials
import Glibc
import TransferAPI

/// What a daemon that is starting says about itself in its lock file.
struct StartStatus {
  let stateDirectory: String
  /// Shows a message to the user.
  let say: (String) -> Void
  private var told: String?

  init(stateDirectory: String, say: @escaping (String) -> Void = { Notice.say($0) }) {
    self.stateDirectory = stateDirectory
    self.say = say
  }

  /// Whether a daemon is busy with something that takes long, such as a migration. Says so once.
  mutating func isBusy() -> Bool {
    guard let text = read(), let status = text.status, kill(text.processID, 0) == 0 || errno == EPERM else {
      return false
    }
    if told != status { say("waiting for transferd: it is \(status)") }
    told = status
    return true
  }

  private func read() -> LockFileText? {
    let path = stateDirectory + "/" + LockFileText.fileName
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: LockFileText.maximumBytes)
    let count = pread(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { return nil }
    return LockFileText(String(decoding: buffer[..<count], as: UTF8.self))
  }
}
