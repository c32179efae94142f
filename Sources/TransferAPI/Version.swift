/// The release of both programs.
public enum Version {
  public static let current = "0.1.0"
}
