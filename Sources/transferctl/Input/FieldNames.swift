import TransferAPI

/// The names of the fields in a JSON object. They distinguish explicit values from defaults.
struct FieldNames: Decodable {
  let names: Set<String>

  init(from decoder: any Decoder) throws { names = Set(try decoder.fieldNames()) }
}
