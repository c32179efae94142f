import CLinux
import FoundationEssentials
import Glibc
import WireValues

/// Decides for one transfer whether an SSH server is the expected one. Used on a transfer loop's thread only.
final class HostKeyCheck {
  private let policy: SSHConfiguration.HostKeyPolicy
  private let files: [String]
  private let host: String
  private let port: Int
  private let hint: Int32

  init(_ configuration: SSHConfiguration, host: String, port: Int) {
    policy = configuration.hostKeyPolicy
    files = configuration.effectiveKnownHostsFiles
    self.host = host
    self.port = port
    if case .pinned = configuration.hostKeyPolicy {
      hint = -1
    } else {
      let known = Self.read(files).preferredKey(host: host, port: port)
      hint = known.map { Self.memoryFile($0.line(host: host, port: port) + "\n") } ?? -1
    }
  }

  deinit { if hint >= 0 { Glibc.close(hint) } }

  /// A known-hosts file with only the best line for this host: libcurl asks the server for a key of that type.
  var hintPath: String? { hint >= 0 ? "/proc/self/fd/\(hint)" : nil }

  /// Why the key is refused; `nil` if it is accepted.
  func objection(to blob: [UInt8]) -> TransferError.RemoteFailure? {
    let name = KnownHosts.names(host, port)[0]
    guard let key = HostKey(blob) else {
      return .hostKeyRefused(host: name, reason: "it sent a key that cannot be read")
    }
    if case .pinned(let pins) = policy {
      guard !pins.contains(where: { Self.normalized($0) == Self.normalized(key.fingerprint) }) else { return nil }
      return .hostKeyChanged(
        host: name, keyType: key.type, fingerprint: key.fingerprint, expectedBy: "the fingerprints that were given")
    }
    // Read now: another transfer may have added the host since.
    switch Self.read(files).verdict(on: key, host: host, port: port) {
    case .known: return nil
    case .revoked(let file, let line):
      return .hostKeyRefused(host: name, reason: "its key \(key.fingerprint) is revoked (\(file), line \(line))")
    case .changed(let file, let line):
      return .hostKeyChanged(
        host: name, keyType: key.type, fingerprint: key.fingerprint, expectedBy: "\(file), line \(line)")
    case .unknown:
      guard case .acceptNew = policy, let file = files.first else {
        return .hostKeyUnknown(
          host: host, port: port, keyType: key.type, fingerprint: key.fingerprint,
          file: files.first ?? "a known-hosts file")
      }
      return remember(key, in: file)
    }
  }

  /// Without the prefix and the padding, which people leave out.
  private static func normalized(_ pin: String) -> Substring {
    (pin.hasPrefix("SHA256:") ? pin.dropFirst(7) : pin[...]).prefix { $0 != "=" }
  }

  private static func read(_ files: [String]) -> KnownHosts {
    var known = KnownHosts()
    for file in files {
      guard let data = try? Data(contentsOf: URL(fileURLWithPath: file)), data.count < 64 << 20 else { continue }
      known.add(String(decoding: data, as: UTF8.self), file: file)
    }
    return known
  }

  /// Adds the host with one append, so that lines of other programs stay as they are. A key that cannot be stored is
  /// refused: otherwise every connection would be a first one.
  private func remember(_ key: HostKey, in file: String) -> TransferError.RemoteFailure? {
    mkdir(file.parentPath, 0o700)
    let descriptor = open(file, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return notRemembered(file) }
    defer { Glibc.close(descriptor) }
    var last: UInt8 = 10
    let size = lseek(descriptor, 0, SEEK_END)
    if size > 0 { pread(descriptor, &last, 1, size - 1) }  // checked: size > 0
    let line = Array(((last == 10 ? "" : "\n") + key.line(host: host, port: port) + "\n").utf8)
    guard write(descriptor, line, line.count) == line.count, fdatasync(descriptor) == 0 else {
      return notRemembered(file)
    }
    return nil
  }

  private func notRemembered(_ file: String) -> TransferError.RemoteFailure {
    .hostKeyRefused(
      host: KnownHosts.names(host, port)[0],
      reason: "its key is new and cannot be written to \(file): \(String(cString: strerror(errno)))")
  }

  private static func memoryFile(_ text: String) -> Int32 {
    let descriptor = linux_memory_file("known-hosts")
    guard descriptor >= 0 else { return -1 }
    let bytes = Array(text.utf8)
    guard write(descriptor, bytes, bytes.count) == bytes.count else {
      Glibc.close(descriptor)
      return -1
    }
    return descriptor
  }
}
