import FoundationEssentials
import TransferAPI

/// The names of the fields in a JSON object. They distinguish explicit values from defaults.
struct FieldNames: Decodable {
  let names: Set<String>

  private struct AnyKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    names = Set(try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue))
  }
}
