import FoundationEssentials
import TransferAPI

@testable import transferctl

/// A job in the given state.
func sampleJob(
  _ id: Int64, _ state: JobState = .running, done: Int64 = 0, total: Int64? = nil, rate: Int64 = 0,
  destination: String = "/data/file", batch: String? = nil, error: JobFailure? = nil
) -> Job {
  Job(
    id: JobID(id), kind: .download, state: state, source: "https://example.org/file",
    destination: destination, bytesDone: done, bytesTotal: total, bytesPerSecond: rate, attempt: 1,
    maxAttempts: 20, batch: batch, error: error, createdAt: Date(timeIntervalSince1970: 1_700_000_000))
}

func sampleEvent(
  _ seq: Int64, _ job: Int64, _ kind: Event.Kind = .state, to: JobState?, error: JobFailure? = nil
) -> Event {
  Event(
    seq: seq, job: JobID(job), at: Date(timeIntervalSince1970: 1_700_000_000), kind: kind, to: to,
    error: error)
}

/// An event as the daemon streams it.
func serverSentEvent(_ event: Event) throws -> String {
  "id: \(event.seq)\nevent: \(event.kind.rawValue)\ndata: \(try json(event))\n\n"
}

/// A directory that is deleted at the end of the test.
struct TemporaryFolder: ~Copyable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/transferctl-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A file with these bytes, as `-i` reads it.
func listFile(_ bytes: [UInt8]) throws -> ListFile {
  let folder = try TemporaryFolder()
  let path = folder.path + "/list"
  try Data(bytes).write(to: URL(filePath: path))
  return try ListFile(path)
}
