public enum UploadMethod: String, Codable, CaseIterable, Sendable {
  case put = "PUT"
  case post = "POST"
}
