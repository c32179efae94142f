import Synchronization

/// Makes requests and owns what they share: the transfer loop with its connections, the hooks and the monitors.
public final class Session: Sendable {
  /// A session with the default configuration.
  public static let `default` = Session()

  /// The settings of all requests. Later changes of the value that was passed to `init` have no effect.
  public let configuration: SessionConfiguration
  let interceptor: (any RequestInterceptor)?
  /// Decides how servers prove their identity; `nil`: by the system's certificate authorities.
  public let serverTrustManager: ServerTrustManager?
  let redirectHandler: any RedirectHandler
  let eventMonitors: [any EventMonitor]
  /// Limits of speed, for the session and for parts of its requests.
  public let bandwidth = BandwidthLimits()
  let loop: TransferLoop
  let hostsReported = Mutex<Set<String>>([])
  let remoteLoops: RemoteLoops
  let serverCapabilities = ServerCapabilities()
  let active = ActiveRequests()
  private let lastRequestID = Atomic<UInt64>(0)

  /// - Parameters:
  ///   - configuration: the settings of all requests; the session keeps a copy.
  ///   - startRequestsImmediately: replaces the configuration's value if it is not `nil`.
  ///   - interceptor: asked after a request's own.
  ///   - serverTrustManager: decides how servers prove their identity; `nil`: by the system's certificate authorities.
  ///   - redirectHandler: for requests without one of their own.
  ///   - eventMonitors: called for every event, in this order.
  public init(
    configuration: SessionConfiguration = SessionConfiguration(), startRequestsImmediately: Bool? = nil,
    interceptor: (any RequestInterceptor)? = nil, serverTrustManager: ServerTrustManager? = nil,
    redirectHandler: any RedirectHandler = Redirector(behavior: .follow), eventMonitors: [any EventMonitor] = []
  ) {
    var configuration = configuration
    if let startRequestsImmediately { configuration.startRequestsImmediately = startRequestsImmediately }
    self.configuration = configuration
    self.interceptor = interceptor
    self.serverTrustManager = serverTrustManager
    self.redirectHandler = redirectHandler
    self.eventMonitors = eventMonitors
    loop = TransferLoop(maximumConnections: configuration.maximumIdleConnections, bandwidth)
    remoteLoops = RemoteLoops(maximumConnections: configuration.maximumIdleConnections, bandwidth)
  }

  func nextRequestID() -> RequestID {
    RequestID(rawValue: lastRequestID.add(1, ordering: .relaxed).newValue)
  }

  /// The event is created only if there is a monitor.
  func notify(_ id: RequestID, _ event: @autoclosure () -> RequestEvent) {
    guard !eventMonitors.isEmpty || serverTrustManager != nil else { return }
    let event = event()
    for monitor in eventMonitors { monitor.request(id, did: event) }
  }
}

extension Session {
  /// Returns when the transfer loop has run once: a health check.
  public func ping() async { await loop.ping() }
}
