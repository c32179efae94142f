import Digests

/// Computes several digests of one stream of bytes.
struct Digester: Sendable {
  /// An array, so that its elements are updated in place.
  private var hashes: [(algorithm: DigestAlgorithm, hash: IncrementalHash)]

  init(_ algorithms: Set<DigestAlgorithm>) {
    hashes = algorithms.map { ($0, IncrementalHash($0.function)) }
  }

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    for index in hashes.indices { hashes[index].hash.update(bytes) }
  }

  /// Lower-case hexadecimal digests of the algorithms given to `init`.
  func finalize() -> [DigestAlgorithm: String] {
    hashes.reduce(into: [:]) { $0[$1.algorithm] = $1.hash.finalize().hex }
  }
}

extension DigestAlgorithm {
  fileprivate var function: HashFunction {
    switch self {
    case .sha256: .sha256
    case .sha512: .sha512
    case .sha1: .sha1
    case .md5: .md5
    }
  }
}
