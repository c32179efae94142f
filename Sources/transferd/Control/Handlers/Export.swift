import Hummingbird
import NIOCore
import NIOFoundationCompat
import Store
import TransferAPI

extension Handlers {
  /// What was asked for, a line a job, without secrets; `transferctl import` reads it.
  static let export: RouteTable.Handler = { request, daemon in
    let selector: JobSelector =
      if let ids = try request.ids("ids") { .ids(ids) } else if let batch = request.query("batch") {
        .batch(batch)
      } else { .all }
    let scope = try request.scope()
    let selection = try await daemon.store.selection(of: selector, for: request.caller.uid, in: scope)
    if case .ids(let ids) = selection {
      let found = Set(try await daemon.store.records(ids, in: scope).map(\.job.id))
      if let missing = ids.first(where: { !found.contains($0) }) { throw Problem(.notFound, "no job \(missing)") }
    }
    return Response(
      status: .ok, headers: [.contentType: "application/x-ndjson"],
      body: .init { writer in
        var after: JobID?
        repeat {
          let page: ByteBuffer
          (page, after) = try await exported(selection, after: after, in: scope, daemon)
          try await writer.write(page)
        } while after != nil
        try await writer.finish(nil)
      })
  }

  /// A page of lines, and where the next one begins; `nil` on the last.
  private static func exported(
    _ selection: JobSelection, after: JobID?, in scope: Scope, _ daemon: DaemonFace
  ) async throws -> (ByteBuffer, JobID?) {
    await Turnstile.longAnswers.enter()
    defer { Turnstile.longAnswers.leave() }
    var page = ByteBuffer()
    let ids = try await daemon.store.ids(
      matching: selection, after: after, limit: exportPage, in: scope)
    for record in try await daemon.store.records(ids, in: scope) {
      let line = ExportedJob(request: NewJob(record), state: record.job.state, omitted: record.spec.omittedFromExport)
      page.writeData(try Reply.line(line))
    }
    return (page, ids.count < exportPage ? nil : ids.last)
  }

  /// Few: a client that does not read holds one page in memory.
  private static let exportPage = 50
}

extension JobSpec {
  /// Secrets that an export says nothing of; `nil` where there are none.
  fileprivate var omittedFromExport: [String]? {
    let names = headers.keys.filter(Secrets.isSecret(headerName:)).sorted()
    let omitted = (credentials == nil ? [] : ["user name and password"]) + names.map { "header \($0)" }
    return omitted.isEmpty ? nil : omitted
  }
}

extension NewJob {
  /// What would have to be asked to get this job again, less its secrets.
  init(_ record: JobRecord) {
    let spec = record.spec
    self.init(source: Secrets.redacting(url: spec.source))
    kind = spec.kind
    credentials = spec.credentialsReference
    secretHeaders = spec.secretHeaders
    if spec.kind == .upload {
      destination = Secrets.redacting(url: spec.destination)
      upload = spec.upload.redacted
    } else if spec.destination.hasSuffix("/") {
      directory = spec.destination == "/" ? "/" : String(spec.destination.dropLast())
    } else {
      destination = spec.destination
    }
    nameFromResponse = spec.kind == .download && spec.destination.hasSuffix("/") && spec.nameFromResponse
    createDirectories = spec.createDirectories
    replace = spec.replace
    checksum = spec.checksum
    headers = spec.headers.filter { !Secrets.isSecret(headerName: $0.key) }
    batch = spec.batch
    key = spec.key
    priority = spec.priority
    paused = record.job.state == .paused
    limitRate = spec.limitRate
    maxAttempts = spec.maxAttempts
    connectTimeout = spec.connectTimeout
    stallTimeout = spec.stallTimeout
  }
}
