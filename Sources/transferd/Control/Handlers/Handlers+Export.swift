import HTTPServer
import NIOCore
import Store
import TransferAPI
import WireValues

extension Handlers {
  /// The requests of jobs, one a line, without secrets. `transferctl import` reads them.
  static let export: RouteTable.Handler = { request, daemon in
    let selector: JobSelector =
      if let ids = try request.ids("ids") { .ids(ids) } else if let batch = request.query("batch") {
        .batch(batch)
      } else { .all }
    let (user, scope) = (request.caller.uid, try request.scope())
    let selection = try await daemon.store.selection(of: selector, for: request.caller.uid, in: scope)
    if case .ids(let ids) = selection {
      let found = Set(try await daemon.store.values(of: ids, in: scope) { $0.job.id })
      if let missing = ids.first(where: { !found.contains($0) }) { throw Problem(.notFound, "no job \(missing)") }
    }
    return Reply.lines { writer in
      var after: JobID?
      var lines = ExportLines()
      repeat {
        let page: ByteBuffer
        (page, after) = try await exported(selection, after: after, for: user, in: scope, daemon, &lines)
        try await writer.write(page)
      } while after != nil
    }
  }

  /// A page of lines, and the id after which the next page begins; `nil` for the last page.
  private static func exported(
    _ selection: JobSelection, after: JobID?, for user: UInt32, in scope: Scope, _ daemon: DaemonServices,
    _ lines: inout ExportLines
  ) async throws -> (ByteBuffer, JobID?) {
    await AsyncSemaphore.longResponses.enter(for: user)
    defer { AsyncSemaphore.longResponses.leave() }
    let ids = try await daemon.store.ids(matching: selection, after: after, limit: exportPage, in: scope)
    let (records, count) = try await daemon.store.records(ids, upTo: Reply.pieceBytes, in: scope)
    var text = JSONText()
    for record in records { try lines.write(record, to: &text) }
    let isLast = count == ids.count && count < exportPage
    return (ByteBuffer(bytes: text.bytes), isLast ? nil : ids[..<count].last)
  }

  /// The most jobs of one page. A client that does not read holds a page in memory, so it ends at about
  /// `Reply.pieceBytes`: the options of one job may have some hundred KiB.
  private static let exportPage = 200
}

extension JobSpec {
  /// Names of the secrets that the export leaves out; `nil` if there are none.
  var omittedFromExport: [String]? {
    let names = options.headers.keys.filter(Secrets.isSecret(headerName:)).sorted()
    let proxy = options.network.proxy.map { Secrets.redacting(url: $0) != $0 } ?? false
    let omitted =
      (credentials == nil ? [] : ["user name and password"])
      + (relay?.credentials == nil ? [] : ["user name and password of the target"])
      + (proxy ? ["user name and password of the proxy"] : [])
      + names.map { "header \($0)" }
    return omitted.isEmpty ? nil : omitted
  }
}

extension NewJob {
  /// The request that would add this job again, without its secrets.
  init(_ record: JobRecord) {
    let spec = record.spec
    self.init(source: Secrets.redacting(url: spec.source))
    kind = spec.kind
    options = spec.options.redacted()
    // What has completed is not waited for again, and another daemon does not know it.
    if record.openDependencies == 0 { options.schedule.after = [] }
    if spec.kind == .upload || spec.kind == .relay {
      destination = Secrets.redacting(url: spec.destination)
    } else if spec.destination.hasTrailingSlash {
      directory = String(spec.destination.withoutTrailingSlash)
    } else {
      destination = spec.destination
      options.download.nameFromResponse = false
    }
    batch = spec.batch
    key = spec.key
    priority = spec.priority
    paused = record.job.state == .paused
  }
}
