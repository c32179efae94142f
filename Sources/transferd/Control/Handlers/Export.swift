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
    if case .batch(let name) = selector, try await !daemon.store.batchExists(name) {
      throw Problem(.notFound, "no batch \"\(name)\"")
    }
    if case .ids(let ids) = selector {
      let found = Set(try await daemon.store.records(ids).map(\.job.id))
      if let missing = ids.first(where: { !found.contains($0) }) { throw Problem(.notFound, "no job \(missing)") }
    }
    return Response(
      status: .ok, headers: [.contentType: "application/x-ndjson"],
      body: .init { writer in
        var after: JobID?
        while true {
          let ids = try await daemon.store.ids(matching: selector, after: after, limit: 500)
          guard let last = ids.last else { break }
          after = last
          var buffer = ByteBuffer()
          for record in try await daemon.store.records(ids) {
            buffer.writeData(try Reply.line(ExportedJob(request: NewJob(record), state: record.job.state)))
          }
          try await writer.write(buffer)
        }
        try await writer.finish(nil)
      })
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
      upload = spec.upload
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
