public import FoundationEssentials
public import HTTPTypes
import Synchronization

/// Makes requests and owns what they share: the transfer loop with its connections, the hooks, the monitors.
public final class Session: Sendable {
  /// For programs that need only one.
  public static let `default` = Session()

  public let configuration: SessionConfiguration
  let interceptor: (any RequestInterceptor)?
  public let serverTrustManager: ServerTrustManager?
  let redirectHandler: any RedirectHandler
  let eventMonitors: [any EventMonitor]
  let loop: TransferLoop
  let hostsReported = Mutex<Set<String>>([])
  let remoteLoops: RemoteLoops
  let uploadMemory = UploadMemory()
  private let lastRequestID = Atomic<UInt64>(0)

  public init(
    configuration: SessionConfiguration = SessionConfiguration(), interceptor: (any RequestInterceptor)? = nil,
    serverTrustManager: ServerTrustManager? = nil, redirectHandler: any RedirectHandler = Redirector(behavior: .follow),
    eventMonitors: [any EventMonitor] = []
  ) {
    self.configuration = configuration
    self.interceptor = interceptor
    self.serverTrustManager = serverTrustManager
    self.redirectHandler = redirectHandler
    self.eventMonitors = eventMonitors
    loop = TransferLoop(maximumConnections: configuration.maximumIdleConnections)
    remoteLoops = RemoteLoops(maximumConnections: configuration.maximumIdleConnections)
  }

  /// A request whose answer is kept in memory.
  public func request(
    _ url: RequestURL, method: HTTPRequest.Method = .get, headers: HTTPFields = [:], body: RequestBody? = nil,
    interceptor: (any RequestInterceptor)? = nil
  ) -> DataRequest {
    let request = describe(url, method: method, headers: headers, body: body)
    return DataRequest(
      core: RequestCore(session: self) { core in
        await self.performData(request, core, interceptor: interceptor)
      })
  }

  /// A request whose answer is taken piece by piece.
  public func streamRequest(
    _ url: RequestURL, method: HTTPRequest.Method = .get, headers: HTTPFields = [:], body: RequestBody? = nil
  ) -> DataStreamRequest {
    let request = describe(url, method: method, headers: headers, body: body)
    let id = TransferID()
    let loop = (try? performer(for: url)) ?? loop
    let channel = StreamChannel(unpause: { Task { await loop.unpause(id) } })
    return DataStreamRequest(
      core: RequestCore(session: self) { core in
        await self.performStream(request, core, channel: channel, transferID: id)
      }, channel: channel)
  }

  /// A download to a file; see `DownloadRequest`.
  /// - Parameters:
  ///   - resumingWith: what an earlier request, here or in another process, left; ignored when unreadable.
  ///   - expecting: digests the file must have.
  ///   - partialName: the part file's name; by default one that no other download uses.
  ///   - journal: keeps the resume data durable while it runs.
  public func download(
    _ request: TransferRequest, to destination: DownloadDestination, options: DownloadOptions = [],
    resumingWith data: Data? = nil, expecting digests: [ExpectedDigest] = [], partialName: String? = nil,
    journal: (any DownloadJournal)? = nil, interceptor: (any RequestInterceptor)? = nil,
    validations: [Validation] = []
  ) -> DownloadRequest {
    let resumeData = data.flatMap { ResumeData($0) }
    let plan = DownloadPlan(
      request: request, destination: destination, options: options,
      partialName: partialName ?? resumeData?.partialFile.name
        ?? SafeFileName.partial(for: destination.name, token: String(UInt32.random(in: 0 ... .max), radix: 16)),
      expectedDigests: digests, journal: journal)
    return DownloadRequest(
      core: RequestCore(session: self) { core in
        await DownloadPipeline(session: self, core: core, plan: plan, validations: validations)
          .run(from: resumeData, interceptor: interceptor)
      })
  }

  private func describe(
    _ url: RequestURL, method: HTTPRequest.Method, headers: HTTPFields, body: RequestBody?
  ) -> TransferRequest {
    TransferRequest(
      url: url, method: method, headers: headers, body: body, connectTimeout: configuration.connectTimeout,
      stallTimeout: configuration.stallTimeout)
  }

  func nextRequestID() -> RequestID {
    RequestID(rawValue: lastRequestID.add(1, ordering: .relaxed).newValue)
  }

  func notify(_ id: RequestID, _ event: RequestEvent) {
    for monitor in eventMonitors { monitor.request(id, did: event) }
    if case .send(let request) = event { reportSkippedTrust(request, id) }
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
