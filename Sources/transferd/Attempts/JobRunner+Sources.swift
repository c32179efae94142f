import Store
import TransferAPI
import TransferEngine

/// The places from which a job's file can be fetched.
extension JobRunner {
  /// Each mirror is a server of its own: the rules for its origin apply to it, its connections need permits of its origin, and
  /// what is meant for the job's own server is not sent to it.
  func sources(
    of record: JobRecord, _ request: TransferRequest, _ reports: AttemptReports
  ) throws(TransferError) -> DownloadSources {
    let spec = record.spec
    let options = spec.options.download
    var mirrors: [DownloadSource] = []
    for text in options.mirrors { mirrors.append(try mirror(at: try RequestURL(text), record, request, reports)) }
    return DownloadSources(
      mirrors: mirrors, size: options.size, pieces: options.pieces.flatMap(PieceDigests.init),
      describing: { url in try? mirror(at: url, record, request, reports) })
  }

  private func mirror(
    at url: RequestURL, _ record: JobRecord, _ own: TransferRequest, _ reports: AttemptReports
  ) throws(TransferError) -> DownloadSource {
    let spec = record.spec
    var request = own.mirrored(at: url)
    request.bandwidthBuckets = bandwidth.buckets(of: record, at: url.origin)
    let interceptor: (any RequestInterceptor)?
    if url.origin == spec.origin {
      interceptor = try self.interceptor(for: spec)
    } else {
      let proxy = try proxy(of: spec, at: url.origin)
      request.connection.proxy = proxy.configuration
      var network = spec.options.network
      // For the job's own server.
      (network.cert, network.certKey) = (nil, nil)
      interceptor = ConnectionAdapter(
        network, rules: paths.rules(for: spec.owner, .read), proxy: proxy, isConfigured: network.proxy == nil, secrets)
    }
    return DownloadSource(
      request: request, interceptor: interceptor, permits: OriginPermits(origin: url.origin, reports: reports))
  }
}

extension PieceDigests {
  init?(_ pieces: FilePieces) {
    guard let algorithm = DigestAlgorithm(rawValue: pieces.algorithm) else { return nil }
    self.init(algorithm, length: pieces.length, digests: Array(pieces.digests))
  }
}
