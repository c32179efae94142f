/// The release both programs belong to.
public enum Version {
  public static let current = "0.1.0"
}
