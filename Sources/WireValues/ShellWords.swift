/// Splits a command line into words at blanks. Quotes and backslashes keep blanks in a word. Nothing is expanded.
public enum ShellWords {
  public enum Problem: Error, Equatable, CustomStringConvertible {
    case endsWithBackslash
    case hasOpenQuote

    public var description: String {
      switch self {
      case .endsWithBackslash: "the command ends with a backslash"
      case .hasOpenQuote: "the command has a quote without its end"
      }
    }
  }

  public static func split(_ text: String) throws(Problem) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var rest = text[...]
    while let character = rest.popFirst() {
      switch (quote, character) {
      case ("'"?, "'"), ("\""?, "\""): quote = nil
      case (nil, "'"), (nil, "\""):
        quote = character
        word = word ?? ""
      case (nil, "\\"), ("\""?, "\\"):
        guard let next = rest.popFirst() else { throw .endsWithBackslash }
        word = word ?? ""
        word?.append(next)  // in place: a word may be as long as the request
      case (nil, " "), (nil, "\t"), (nil, "\n"):
        if let complete = word { words.append(complete) }
        word = nil
      default:
        word = word ?? ""
        word?.append(character)
      }
    }
    guard quote == nil else { throw .hasOpenQuote }
    if let word { words.append(word) }
    return words
  }
}
