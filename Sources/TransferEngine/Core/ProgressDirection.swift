/// The direction of a transfer.
enum ProgressDirection: Sendable {
  case download, upload
}
