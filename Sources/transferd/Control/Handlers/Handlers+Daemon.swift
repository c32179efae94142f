import FoundationEssentials
import HTTPServer
import NIOHTTP1
import TransferAPI
import WireValues

extension Handlers {
  static let stats: RouteTable.Handler = { request, daemon in
    try Reply.json(try await daemon.stats(in: try request.scope()))
  }

  static let reload: RouteTable.Handler = { request, daemon in
    do {
      try await daemon.reload()
    } catch {
      throw Problem(.invalid, "cannot reload: \(error)")
    }
    return try Reply.json(try await daemon.stats(in: request.caller.scope))
  }

  static let stop: RouteTable.Handler = { _, daemon in
    daemon.requestStop()
    return Response(status: .accepted)
  }

  static let health: RouteTable.Handler = { _, _ in Reply.text("ok\n") }

  /// Prometheus' text format, version 0.0.4.
  static let metrics: RouteTable.Handler = { request, daemon in
    let stats = try await daemon.stats(in: try request.scope())
    var text = "# HELP transferd_jobs Stored jobs by state.\n# TYPE transferd_jobs gauge\n"
    for state in JobState.allCases {
      text += "transferd_jobs{state=\"\(state.rawValue)\"} \(stats.counts[state])\n"
    }
    text += """
      # HELP transferd_receive_bytes_per_second Smoothed rate of all running transfers.
      # TYPE transferd_receive_bytes_per_second gauge
      transferd_receive_bytes_per_second \(stats.bytesPerSecond)
      # HELP transferd_events_total State changes ever recorded.
      # TYPE transferd_events_total counter
      transferd_events_total \(stats.lastEvent)
      # HELP transferd_insecure_attempts_total Attempts since the start that did not check the server's certificate.
      # TYPE transferd_insecure_attempts_total counter
      transferd_insecure_attempts_total \(await daemon.scheduler.insecureAttempts)
      # HELP transferd_start_time_seconds When the daemon started.
      # TYPE transferd_start_time_seconds gauge
      transferd_start_time_seconds \(CheckedNumber(rounding: stats.startedAt.timeIntervalSince1970).value ?? 0)
      # HELP transferd_info The running release.
      # TYPE transferd_info gauge
      transferd_info{version="\(stats.version)"} 1

      """
    return Reply.text(text, type: "text/plain; version=0.0.4; charset=utf-8")
  }
}
