import TransferAPI

/// Disks, files and the quota.
extension ConfigurationKey {
  static let storageKeys: [ConfigurationKey] = [
    scalar("minFree", "a size like 500M or 10G, or 0") {
      $0.storage.minFree = $1
    } _: {
      $0 == "0" ? 0 : ByteSize($0)?.bytes
    },
    scalar("spoolMax", "a size like 500M or 20G") {
      $0.storage.spoolMax = $1
    } _: {
      ByteSize($0)?.bytes
    },
    scalar("quota", "a size a day like 50G/day, or off") {
      $0.limits.quota = $1
    } _: { text -> Int64?? in
      if text == "off" { return .some(nil) }
      guard text.hasSuffix("/day") else { return nil }
      return ByteSize(String(text.dropLast("/day".count))).map { .some($0.bytes) }
    },
    scalar("xattr", "true or false") {
      $0.storage.notesOrigin = $1
    } _: {
      ["true": true, "false": false][$0]
    },
  ]
}
