/// The path of a route: literal components, and at most one parameter in braces, which may have a suffix:
/// `/v1/jobs/{id}:pause`. The value of a parameter called `id` has no colon, because a colon begins a verb.
public struct RoutePattern: Sendable, CustomStringConvertible {
  private enum Component: Equatable, Sendable {
    case literal(String)
    case parameter(suffix: String, mayHaveColon: Bool)

    init(_ text: Substring) {
      if text.hasPrefix("{"), let end = text.firstIndex(of: "}") {
        self = .parameter(
          suffix: String(text[text.index(after: end)...]), mayHaveColon: text[...end] != "{id}")
      } else {
        self = .literal(String(text))
      }
    }
  }

  /// As it is written.
  public let description: String
  private let components: [Component]

  public init(_ text: String) {
    description = text
    components = text.split(separator: "/").map(Component.init)
  }

  /// The value of the parameter, `""` for a pattern without one; `nil` if the path does not match.
  /// - Parameter path: decoded components.
  public func match(_ path: [String]) -> String? {
    guard components.count == path.count else { return nil }
    var value = ""
    for (component, text) in zip(components, path) {
      switch component {
      case .literal(let literal): guard literal == text else { return nil }
      case .parameter(let suffix, let mayHaveColon):
        guard text.hasSuffix(suffix), text.utf8.count > suffix.utf8.count else { return nil }
        value = String(text.dropLast(suffix.count))
        guard mayHaveColon || !value.contains(":") else { return nil }
      }
    }
    return value
  }
}
