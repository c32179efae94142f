/// The secrets in a job's options. The daemon stores them apart from the options.
public struct OptionSecrets: Codable, Equatable, Sendable {
  /// Whole URLs that hold userinfo or secret query items, by the option's name.
  public var urls: [String: String] = [:]
  /// The same for lists of URLs, by their position.
  public var lists: [String: [Int: String]] = [:]
  /// Values of header fields, by name.
  public var headers: [String: String] = [:]
  /// Texts of form fields, by their position.
  public var form: [Int: String] = [:]

  public init() {}

  public var isEmpty: Bool { urls.isEmpty && lists.isEmpty && headers.isEmpty && form.isEmpty }

  private enum CodingKeys: String, CodingKey {
    case urls, lists, headers, form
    /// Two URLs that schema version 3 stored under their own names.
    case collection, endpoint
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    urls = try container.decodeIfPresent([String: String].self, forKey: .urls) ?? [:]
    for key in [CodingKeys.collection, .endpoint] {
      if let url = try container.decodeIfPresent(String.self, forKey: key) { urls[key.rawValue] = url }
    }
    lists = try container.decodeIfPresent([String: [Int: String]].self, forKey: .lists) ?? [:]
    headers = try container.decodeIfPresent([String: String].self, forKey: .headers) ?? [:]
    form = try container.decodeIfPresent([Int: String].self, forKey: .form) ?? [:]
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    if !urls.isEmpty { try container.encode(urls, forKey: .urls) }
    if !lists.isEmpty { try container.encode(lists, forKey: .lists) }
    if !headers.isEmpty { try container.encode(headers, forKey: .headers) }
    if !form.isEmpty { try container.encode(form, forKey: .form) }
  }
}
