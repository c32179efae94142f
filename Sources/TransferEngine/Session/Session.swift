import Synchronization

/// Makes requests and owns what they share: the transfer loop with its connections, the hooks, the monitors.
public final class Session: Sendable {
  /// For programs that need only one.
  public static let `default` = Session()

  /// What holds for all requests; a copy that later changes do not reach.
  public let configuration: SessionConfiguration
  let interceptor: (any RequestInterceptor)?
  /// Who judges servers; `nil`: the system's roots.
  public let serverTrustManager: ServerTrustManager?
  let redirectHandler: any RedirectHandler
  let eventMonitors: [any EventMonitor]
  let loop: TransferLoop
  let hostsReported = Mutex<Set<String>>([])
  let remoteLoops: RemoteLoops
  let uploadMemory = UploadMemory()
  let active = ActiveRequests()
  private let lastRequestID = Atomic<UInt64>(0)

  /// - Parameters:
  ///   - startRequestsImmediately: overrules the configuration's where it is given.
  ///   - interceptor: asked after a request's own.
  ///   - redirectHandler: for requests that have none of their own.
  ///   - configuration: what holds for all requests; later changes of the value do not reach the session.
  ///   - eventMonitors: told of everything, in this order.
  ///   - serverTrustManager: judges servers; `nil`: the system's roots.
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
    loop = TransferLoop(maximumConnections: configuration.maximumIdleConnections)
    remoteLoops = RemoteLoops(maximumConnections: configuration.maximumIdleConnections)
  }

  func nextRequestID() -> RequestID {
    RequestID(rawValue: lastRequestID.add(1, ordering: .relaxed).newValue)
  }

  /// The event is made only where somebody watches.
  func notify(_ id: RequestID, _ event: @autoclosure () -> RequestEvent) {
    guard !eventMonitors.isEmpty || serverTrustManager != nil else { return }
    let event = event()
    for monitor in eventMonitors { monitor.request(id, did: event) }
  }
}

extension Session {
  /// Returns when the transfer loop has taken a turn: a sign of life.
  public func ping() async { await loop.ping() }
}

/// What the process's surroundings decide once.
public enum TransferDefaults {
  /// Finished files get the permissions that the umask of this moment allows. Call it early where the process changes its
  /// umask later; without it the first finished file decides.
  public static func adoptPermissions() { _ = FileMode.ordinary }
}
