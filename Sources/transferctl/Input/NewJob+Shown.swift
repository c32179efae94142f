import TransferAPI
import WireValues

extension NewJob {
  /// The download with the path of its file, if the daemon would derive the name from the URL; other jobs as they are. The
  /// daemon would choose the same name.
  var namingFile: NewJob {
    guard kind == .download, let directory, !options.download.nameFromResponse, let name = URLNames(source).name else {
      return self
    }
    var job = self
    job.directory = nil
    job.destination = directory.withoutTrailingSlash.appendingName(name)
    return job
  }

  /// Without secrets and control characters.
  var shownSource: String { Self.shown(source, isURL: kind != .upload) }

  /// The same; a directory ends with a slash.
  var shownDestination: String {
    if let destination { return Self.shown(destination, isURL: kind == .upload || kind == .relay) }
    return Self.shown(directory.map { $0.hasTrailingSlash ? $0 : $0 + "/" } ?? "", isURL: false)
  }

  private static func shown(_ text: String, isURL: Bool) -> String {
    (isURL ? Secrets.redacting(url: text) : text).printable
  }
}
