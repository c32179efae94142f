import Foundation
import HTTPTypes
import TestSupport
import TransferEngine

/// The code blocks of the documentation. `DocumentationTests` compares them with the documentation, and `SnippetTests`
/// runs them. Each snippet is between two marks.
enum Snippets {
  struct Repo: Codable, Sendable, Equatable { var name: String }

  // MARK: The first lines

  static func session() -> Session {
    // snippet: session
    let session = Session(interceptor: .retryPolicy, eventMonitors: [LogMonitor()])
    // end
    return session
  }

  static func decodable(_ session: Session, _ url: String) async throws -> [Repo] {
    // snippet: decodable
    let repos = try await session.request(url, parameters: ["q": "swift"]).validate()
      .serializingDecodable([Repo].self).value
    // end
    return repos
  }

  static func download(_ session: Session, _ url: String, _ path: String) async throws -> String {
    // snippet: download
    let destination = try DownloadDestination(path: path)
    let file = try await session.download(
      url, to: destination, options: [.createIntermediateDirectories, .removePreviousFile]
    ).validate().serializingFile().value
    // end
    return file
  }

  static func form(_ session: Session, _ url: String, _ fileURL: URL) async throws -> String {
    // snippet: form
    let text = try await session.upload(multipartFormData: { $0.append(fileURL, withName: "file") }, to: url)
      .serializingString().value
    // end
    return text
  }

  static func stream(_ session: Session, _ url: String) async throws -> Int {
    // snippet: stream
    var count = 0
    for try await chunk in session.streamRequest(url).streamingData() {
      count += chunk.count
    }
    // end
    return count
  }

  static func progress(_ session: Session, _ url: String, _ destination: DownloadDestination) async -> Double {
    var last = 0.0
    // snippet: progress
    let download = session.download(url, to: destination)
    let fractions = download.downloadProgress()
    download.resume()
    for await progress in fractions {
      if let total = progress.total, total > 0 { last = Double(progress.completed) / Double(total) }
    }
    // end
    return last
  }

  // MARK: Resuming

  static func cancel(_ download: DownloadRequest) async -> Data? {
    // snippet: cancel
    let data = await download.cancelProducingResumeData()
    // end
    return data
  }

  static func resume(_ session: Session, _ data: Data) async throws -> String {
    // snippet: resume
    let file = try await session.download(resumingWith: data).validate().serializingFile().value
    // end
    return file
  }

  static func failed(_ session: Session, _ url: String, _ destination: DownloadDestination) async -> FileResponse {
    // snippet: failed
    var response = await session.download(url, to: destination).response()
    if let data = response.resumeData?.encoded(), response.error?.isTransient == true {
      response = await session.download(resumingWith: data).response()
    }
    // end
    return response
  }

  static func upload(_ session: Session, _ url: String, _ path: String, keep: @Sendable (Data) -> Void) async throws {
    // snippet: upload
    let upload = FileUpload(request: TransferRequest(url: try RequestURL(url)), source: path)
    let request = session.upload(upload, interceptor: .retryPolicy).resume()
    let response = await request.response()
    if let ledger = response.ledger?.encoded() {
      keep(ledger)  // The upload failed. The ledger resumes it, in this process or another.
    }
    try response.result.get()
    // end
  }

  static func resumeUpload(_ session: Session, _ upload: FileUpload, _ ledger: Data) async throws -> Int64 {
    // snippet: resumeUpload
    let response = await session.upload(upload, resumingWith: ledger).response()
    print("the server had \(response.resumedFrom) of \(response.totalBytes ?? 0) bytes")
    // end
    try response.result.get()
    return response.resumedFrom
  }

  // MARK: Errors and hooks

  static func errors(_ session: Session, _ url: String) async -> String {
    let text: String
    // snippet: errors
    do {
      text = try await session.request(url).validate().serializingString().value
    } catch .response(.unacceptableStatus(404, _)) {
      text = "not found"
    } catch .connection(let failure) {
      text = "cannot reach the server: \(failure)"
    } catch {
      text = "\(error) (\(error.retryAdvice))"
    }
    // end
    return text
  }

  static func policy() -> Session {
    // snippet: policy
    let policy = RetryPolicy(retryLimit: 5, exponentialBackoffScale: 0.01, maximumDelay: .seconds(60))
    let session = Session(interceptor: policy)
    // end
    return session
  }

  static func retrier() -> Session {
    // snippet: retrier
    let retrier = Retrier { attempt, _ in
      attempt.error.isTransient && attempt.retryCount < 3 ? .retryWithDelay(.milliseconds(50)) : .doNotRetry
    }
    let session = Session(interceptor: retrier)
    // end
    return session
  }

  static func adapter(_ token: @escaping @Sendable () async throws -> String) -> Session {
    // snippet: adapter
    let adapter = Adapter { request, _ in
      var request = request
      request.credential = .bearer(token: try await token())
      return request
    }
    let session = Session(interceptor: adapter)
    // end
    return session
  }
}
