import WireValues

/// Times are stored as whole microseconds, libcurl's own unit. A value that an older version did not store is zero.
extension TransferMetrics: Codable {
  private enum CodingKeys: String, CodingKey {
    case queued, nameLookup, connect, tls, ready, firstByte, total, bytesReceived, bytesSent, headerBytesReceived
    case headerBytesSent, status, remoteAddress, localAddress, networkProtocol, tlsVersion, tlsCipher,
      isConnectionReused
  }

  private static let times: [(CodingKeys, WritableKeyPath<TransferMetrics, Duration> & Sendable)] = [
    (.nameLookup, \.nameLookup), (.connect, \.connect), (.tls, \.tls), (.ready, \.ready), (.firstByte, \.firstByte),
    (.total, \.total),
  ]
  private static let counts: [(CodingKeys, WritableKeyPath<TransferMetrics, Int64> & Sendable)] = [
    (.bytesReceived, \.bytesReceived), (.bytesSent, \.bytesSent), (.headerBytesReceived, \.headerBytesReceived),
    (.headerBytesSent, \.headerBytesSent),
  ]
  private static let texts: [(CodingKeys, WritableKeyPath<TransferMetrics, String?> & Sendable)] = [
    (.remoteAddress, \.remoteAddress), (.localAddress, \.localAddress), (.networkProtocol, \.networkProtocol),
    (.tlsVersion, \.tlsVersion), (.tlsCipher, \.tlsCipher),
  ]

  public init(from decoder: any Decoder) throws {
    self.init()
    let container = try decoder.container(keyedBy: CodingKeys.self)
    for (key, path) in Self.times {
      self[keyPath: path] = .microseconds(try container.decodeIfPresent(Int64.self, forKey: key) ?? 0)
    }
    for (key, path) in Self.counts { self[keyPath: path] = try container.decodeIfPresent(Int64.self, forKey: key) ?? 0 }
    for (key, path) in Self.texts { self[keyPath: path] = try container.decodeIfPresent(String.self, forKey: key) }
    queued = try container.decodeIfPresent(Int64.self, forKey: .queued).map { .microseconds($0) }
    status = try container.decodeIfPresent(Int.self, forKey: .status)
    isConnectionReused = try container.decodeIfPresent(Bool.self, forKey: .isConnectionReused) ?? false
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    for (key, path) in Self.times { try container.encode(self[keyPath: path].wholeMicroseconds, forKey: key) }
    for (key, path) in Self.counts { try container.encode(self[keyPath: path], forKey: key) }
    for (key, path) in Self.texts { try container.encodeIfPresent(self[keyPath: path], forKey: key) }
    try container.encodeIfPresent(queued?.wholeMicroseconds, forKey: .queued)
    try container.encodeIfPresent(status, forKey: .status)
    try container.encode(isConnectionReused, forKey: .isConnectionReused)
  }
}

extension Duration {
  fileprivate var wholeMicroseconds: Int64 {
    let whole = CheckedNumber(components.seconds) * 1_000_000 + components.attoseconds / 1_000_000_000_000
    return whole.value ?? (components.seconds < 0 ? .min : .max)
  }
}
