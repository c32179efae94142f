import Store
import TransferAPI
import TransferEngine

/// How a job's requests reach their server.
extension JobRunner {
  /// The settings that need no file and no secret.
  /// - Throws: `.invalidURL` for a proxy or an address that this release cannot read.
  func connection(_ spec: JobSpec) throws(TransferError) -> ConnectionSettings {
    let options = spec.options.network
    var connection = ConnectionSettings()
    connection.proxy = try proxy(of: spec, at: spec.origin).configuration
    connection.isolatesConnection = try ProxyChoice(options)?.hasCredentials ?? false
    connection.ipVersion = options.ipVersion.flatMap { IPVersion(rawValue: $0) }
    connection.interface = options.interface
    // Jobs that name no interface must not use a connection of this one.
    if options.interface != nil { connection.isolatesConnection = true }
    connection.maximumHTTPVersion = options.httpVersion.flatMap { HTTPVersion(rawValue: $0) }
    connection.hostAddresses = try options.resolve.map { text throws(TransferError) in try HostAddress(text) }
    if options.insecure { connection.trust = TrustPolicy.none }
    return connection
  }

  /// The proxy for the job's requests to an origin.
  func proxy(of spec: JobSpec, at origin: String) throws(TransferError) -> ProxyChoice {
    try ProxyChoice(spec.options.network) ?? network.proxy(for: origin)
  }

  /// What is looked up anew for every attempt: secrets and files. `nil`: nothing.
  func interceptor(for spec: JobSpec) throws(TransferError) -> (any RequestInterceptor)? {
    let connection = ConnectionAdapter(
      spec.options.network, rules: paths.rules(for: spec.owner, .read),
      proxy: try proxy(of: spec, at: spec.origin), isConfigured: spec.options.network.proxy == nil, secrets)
    let s3: S3Adapter? =
      spec.kind != .upload && spec.url.hasPrefix("s3:") ? S3Adapter(options: S3Options(spec.options.s3)) : nil
    // The secrets first: an access key may be one of them. Another URL last: what was added is not meant for another origin.
    let all: [(any RequestInterceptor)?] = [
      SecretAdapter(spec, secrets), s3, connection, FreshURLAdapter(spec, secrets),
    ]
    let interceptors = all.compactMap { $0 }
    return interceptors.count > 1 ? Interceptor(interceptors: interceptors) : interceptors.first
  }
}

extension S3Options {
  init(_ options: JobOptions.S3) {
    self.init(endpoint: options.endpoint, region: options.region, profile: options.profile)
  }
}
