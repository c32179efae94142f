public import FoundationEssentials
public import HTTPTypes

/// Downloads to files. A status that is no success never makes a file, validated or not.
extension Session {
  /// - Parameter destination: where the file goes; by default a name of its own in the temporary directory.
  /// - Parameter convertible: where it goes; asked for every attempt anew.
  /// - Parameter encoding: how the parameters become a query or a body.
  /// - Parameter headers: the request's own fields; they replace the session's of the same name.
  /// - Parameter interceptor: asked before the session's own; `nil` for none.
  /// - Parameter method: GET, unless said otherwise.
  /// - Parameter parameters: values that are encoded into the query or the body.
  /// - Parameter requestModifier: changes the request of every attempt before adapters do.
  public func download(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil,
    to destination: DownloadRequest.Destination? = nil
  ) -> DownloadRequest {
    let source = source(convertible, method, headers, requestModifier) { try encoding.encode($0, with: parameters) }
    return download(source, interceptor, to: destination)
  }

  /// A download whose parameters are a value that is encoded.
  public func download<Parameters: Encodable & Sendable>(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil,
    to destination: DownloadRequest.Destination? = nil
  ) -> DownloadRequest {
    let source = source(convertible, method, headers, requestModifier) { try encoder.encode(parameters, into: $0) }
    return download(source, interceptor, to: destination)
  }

  /// A download of a request that says itself what it is.
  public func download(
    _ convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
    to destination: DownloadRequest.Destination? = nil
  ) -> DownloadRequest {
    download(RequestSource(convertible), interceptor, to: destination)
  }

  /// Goes on with a download that another request left, in this process or another. Adapters run, so that credentials,
  /// which resume data never holds, are there again.
  /// - Parameter destination: where the file goes; by default where it was to go.
  /// - Parameter data: what an earlier request left; readable by any version from the one that wrote it on.
  /// - Parameter interceptor: asked before the session's own; `nil` for none.
  public func download(
    resumingWith data: Data, interceptor: (any RequestInterceptor)? = nil,
    to destination: DownloadRequest.Destination? = nil
  ) -> DownloadRequest {
    guard let resumeData = ResumeData(data) else { return failing(.invalidResumeData) }
    let location = resumeData.partialFile
    let (connectTimeout, stallTimeout) = (configuration.connectTimeout, configuration.stallTimeout)
    let source = RequestSource {
      TransferRequest(
        url: try RequestURL(resumeData.url), connectTimeout: connectTimeout, stallTimeout: stallTimeout)
    }
    let plan = { @Sendable (request: TransferRequest) in
      DownloadPlan(
        request: request, destination: DownloadDestination(directory: location.directory, name: location.finalName),
        options: resumeData.options ?? [], chooser: destination, partialName: location.name, expectedDigests: [])
    }
    return download(source, plan, resumeData, interceptor)
  }

  /// A download to a place that is known before, with what a queue needs; see `DownloadRequest`.
  /// - Parameters:
  ///   - data: what an earlier request, here or in another process, left; ignored when unreadable.
  ///   - digests: those that the file must have.
  ///   - partialName: the part file's name; by default one that no other download uses.
  ///   - journal: keeps the resume data durable while it runs.
  ///   - destination: the directory and the name there.
  ///   - interceptor: asked before the session's own; `nil` for none.
  ///   - options: what may be done on the way there.
  ///   - rules: where the file may go; checked on the open directory at each attempt.
  ///   - request: what is asked for; adapters may change it for every attempt.
  public func download(
    _ request: TransferRequest, to destination: DownloadDestination, options: DownloadOptions = [],
    rules: PathRules = .none, resumingWith data: Data? = nil, expecting digests: [ExpectedDigest] = [],
    partialName: String? = nil,
    journal: (any DownloadJournal)? = nil, interceptor: (any RequestInterceptor)? = nil
  ) -> DownloadRequest {
    let resumeData = data.flatMap { ResumeData($0) }
    let plan = DownloadPlan(
      request: request, destination: destination, options: options,
      partialName: partialName ?? resumeData?.partialFile.name ?? Self.partialName(for: destination.name),
      expectedDigests: digests, journal: journal, rules: rules)
    return DownloadRequest(
      core: RequestCore(session: self) { core in
        await DownloadPipeline(session: self, core: core, plan: plan).run(from: resumeData, interceptor: interceptor)
      })
  }

  /// A download of a URL to a place that is known before.
  public func download(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil,
    to destination: DownloadDestination, options: DownloadOptions = [], expecting digests: [ExpectedDigest] = []
  ) -> DownloadRequest {
    let plan = { @Sendable (request: TransferRequest) in
      DownloadPlan(
        request: request, destination: destination, options: options,
        partialName: Self.partialName(for: destination.name), expectedDigests: digests)
    }
    return download(source(convertible, method, headers, requestModifier), plan, nil, interceptor)
  }

  private func download(
    _ source: RequestSource, _ interceptor: (any RequestInterceptor)?, to destination: DownloadRequest.Destination?
  ) -> DownloadRequest {
    let token = String(UInt64.random(in: 0 ... .max), radix: 16)
    let chooser =
      destination ?? { name, _ in
        let directory = URL(fileURLWithPath: SpooledFile.directory)
        return (directory.appendingPathComponent("TransferEngine-\(token)-" + name.suffix(100)), [])
      }
    let plan = { @Sendable (request: TransferRequest) in
      let name = SafeFileName(urlPath: request.url.path)?.string ?? "download"
      return DownloadPlan(
        request: request, destination: DownloadDestination(directory: "", name: name), options: [], chooser: chooser,
        partialName: SafeFileName.partial(for: name, token: token), expectedDigests: [])
    }
    return download(source, plan, nil, interceptor)
  }

  private func download(
    _ source: RequestSource, _ plan: @escaping @Sendable (TransferRequest) -> DownloadPlan, _ resumeData: ResumeData?,
    _ interceptor: (any RequestInterceptor)?
  ) -> DownloadRequest {
    DownloadRequest(
      core: RequestCore(session: self) { core in
        do throws(TransferError) {
          let pipeline = DownloadPipeline(
            session: self, core: core, plan: plan(try source.request()), source: source)
          return await pipeline.run(from: resumeData, interceptor: interceptor)
        } catch {
          self.notify(core.id, .fail(error))
          return FileResponse(failing: error)
        }
      })
  }

  private func failing(_ error: TransferError) -> DownloadRequest {
    DownloadRequest(core: RequestCore(session: self) { _ in FileResponse(failing: error) })
  }

  private static func partialName(for name: String) -> String {
    SafeFileName.partial(for: name, token: String(UInt32.random(in: 0 ... .max), radix: 16))
  }
}
