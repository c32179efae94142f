public import FoundationEssentials
public import HTTPTypes

/// Downloads to files. A response that is not 2xx never becomes a file, validated or not.
extension Session {
  /// A download whose parameters are encoded into the query or the body.
  /// - Parameters:
  ///   - convertible: names the URL; asked once for every attempt.
  ///   - method: GET by default.
  ///   - parameters: values for the query or the body.
  ///   - encoding: how the parameters are encoded.
  ///   - headers: replace the session's fields of the same names.
  ///   - interceptor: asked before the session's; `nil` for none.
  ///   - requestModifier: changes the request of every attempt, before adapters do.
  ///   - destination: where the file goes; by default a new name in the temporary directory.
  public func download(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil,
    to destination: DownloadRequest.Destination? = nil
  ) -> DownloadRequest {
    let source = source(convertible, method, headers, requestModifier) { try encoding.encode($0, with: parameters) }
    return download(source, interceptor, to: destination)
  }

  /// A download whose parameters are an `Encodable` value.
  public func download<Parameters: Encodable & Sendable>(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil,
    to destination: DownloadRequest.Destination? = nil
  ) -> DownloadRequest {
    let source = source(convertible, method, headers, requestModifier) { try encoder.encode(parameters, into: $0) }
    return download(source, interceptor, to: destination)
  }

  /// A download of a request that describes itself.
  public func download(
    _ convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
    to destination: DownloadRequest.Destination? = nil
  ) -> DownloadRequest {
    download(RequestSource(convertible), interceptor, to: destination)
  }

  /// Resumes a download of another request, of this process or another. Adapters run, because resume data contains no
  /// credentials.
  /// - Parameters:
  ///   - data: the resume data; readable by the version that wrote it and by later ones.
  ///   - interceptor: asked before the session's; `nil` for none.
  ///   - destination: where the file goes; by default the destination of the earlier request.
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

  /// A download to a known place, with what a queue needs.
  /// - Parameters:
  ///   - request: what to download; adapters may change it in every attempt.
  ///   - destination: the directory and the name.
  ///   - options: how the destination may be changed.
  ///   - rules: where the file may go; checked on the open directory in each attempt.
  ///   - data: resume data of an earlier request; ignored if it cannot be read.
  ///   - digests: the digests that the file must have.
  ///   - partialName: the part file's name; by default a new one.
  ///   - journal: makes the resume data durable while the download runs.
  ///   - segmentation: how many connections may fetch the file.
  ///   - sources: from where else the file can be fetched; one object for one download.
  ///   - interceptor: asked before the session's; `nil` for none.
  public func download(
    _ request: TransferRequest, to destination: DownloadDestination, options: DownloadOptions = [],
    rules: PathRules = .none, resumingWith data: Data? = nil, expecting digests: [ExpectedDigest] = [],
    partialName: String? = nil, journal: (any DownloadJournal)? = nil, segmentation: Segmentation = Segmentation(),
    sources: DownloadSources = DownloadSources(), interceptor: (any RequestInterceptor)? = nil
  ) -> DownloadRequest {
    let resumeData = data.flatMap { ResumeData($0) }
    var plan = DownloadPlan(
      request: request, destination: destination, options: options,
      partialName: partialName ?? resumeData?.partialFile.name ?? Self.partialName(for: destination.name),
      expectedDigests: digests, journal: journal, rules: rules)
    plan.segmentation = segmentation
    plan.sources = sources
    return DownloadRequest(
      core: RequestCore(session: self) { [plan] core in
        await DownloadPipeline(session: self, core: core, interceptor: interceptor, plan: plan).run(from: resumeData)
      })
  }

  /// A download of a URL to a known place.
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
            session: self, core: core, interceptor: interceptor, plan: plan(try source.request()), source: source)
          return await pipeline.run(from: resumeData)
        } catch {
          self.notify(core.id, .fail(error))
          return FileResponse(failing: error)
        }
      })
  }

  private func failing(_ error: TransferError) -> DownloadRequest {
    DownloadRequest(core: RequestCore(session: self) { _ in FileResponse(failing: error) })
  }

  /// A new part file's name.
  static func partialName(for name: String) -> String {
    SafeFileName.partial(for: name, token: String(UInt32.random(in: 0 ... .max), radix: 16))
  }
}
