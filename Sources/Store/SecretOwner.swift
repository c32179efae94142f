/// The tables whose rows have secrets.
enum SecretOwner: String {
  case job
  case remoteCleanup = "remote_cleanup"
}
