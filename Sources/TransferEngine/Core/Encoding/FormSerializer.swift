/// Writes names and values in their order, or sorted.
struct FormSerializer {
  let options: URLEncodedFormEncoder

  func serialize(_ object: FormObject) -> String {
    joined(object.entries.map { serialize($0.value, forKey: $0.key) })
  }

  private func serialize(_ node: FormNode, forKey key: String) -> String {
    switch node.content {
    case .empty: ""
    case .text(let text): "\(escape(options.keyEncoding.encode(key)))=\(escape(text))"
    case .object(let object):
      joined(object.entries.map { serialize($0.value, forKey: key + options.keyPathEncoding.encode($0.key)) })
    case .array(let items):
      joined(
        items.enumerated().map {
          serialize($0.element, forKey: options.arrayEncoding.encode(key: key, atIndex: $0.offset))
        })
    }
  }

  private func joined(_ pairs: [String]) -> String {
    (options.alphabetizeKeyValuePairs ? pairs.sorted() : pairs).joined(separator: "&")
  }

  private func escape(_ text: String) -> String {
    var allowed = options.allowedCharacters
    allowed.insert(charactersIn: " ")
    let space = if case .plusReplaced = options.spaceEncoding { "+" } else { "%20" }
    return text.percentEncoded(allowing: allowed).replacing(" ", with: space)
  }
}
