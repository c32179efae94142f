import FoundationEssentials

/// Media types by file extension. Linux has no registry of its own: the table contains common types of the web (with
/// the names of the IANA registry), and `/etc/mime.types` more, if it is installed.
enum MediaTypeTable {
  static let unknown = "application/octet-stream"

  static func mediaType(forFileName name: String) -> String {
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return unknown }
    let ending = name[name.index(after: dot)...].lowercased()
    return known[ending] ?? system[ending] ?? unknown
  }

  private static let known: [String: String] = {
    var types: [String: String] = [:]
    for line in table.split(separator: "\n") {
      let words = line.split(separator: " ")
      for ending in words.dropFirst() { types[String(ending)] = String(words[0]) }
    }
    return types
  }()

  /// Read once, when an extension is not in the table.
  private static let system = read("/etc/mime.types")

  /// The format of mime.types(5): each line has a type and its extensions, `#` begins a comment. The first type for an
  /// extension counts.
  static func read(_ path: String) -> [String: String] {
    guard let data = try? Data(contentsOf: URL(filePath: path)), data.count < 4 << 20 else { return [:] }
    var types: [String: String] = [:]
    for line in String(decoding: data, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
      let words = line.split { $0 == " " || $0 == "\t" }
      guard let type = words.first, type.contains("/") else { continue }
      for ending in words.dropFirst() where types[ending.lowercased()] == nil {
        types[ending.lowercased()] = String(type)
      }
    }
    return types
  }

  private static let table = """
    text/plain txt text log
    text/html html htm
    text/css css
    text/csv csv
    text/markdown md markdown
    text/calendar ics
    text/vcard vcf
    text/javascript js mjs
    text/xml xml xsl xsd
    application/json json map
    application/ld+json jsonld
    application/x-ndjson ndjson jsonl
    application/yaml yaml yml
    application/toml toml
    application/pdf pdf
    application/rtf rtf
    application/postscript ps eps ai
    application/epub+zip epub
    application/msword doc dot
    application/vnd.ms-excel xls
    application/vnd.ms-powerpoint ppt
    application/vnd.openxmlformats-officedocument.wordprocessingml.document docx
    application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx
    application/vnd.openxmlformats-officedocument.presentationml.presentation pptx
    application/vnd.oasis.opendocument.text odt
    application/vnd.oasis.opendocument.spreadsheet ods
    application/vnd.oasis.opendocument.presentation odp
    application/vnd.sqlite3 sqlite sqlite3
    application/zip zip
    application/gzip gz tgz
    application/zstd zst
    application/x-bzip2 bz2
    application/x-xz xz
    application/x-tar tar
    application/x-7z-compressed 7z
    application/vnd.rar rar
    application/java-archive jar war
    application/vnd.debian.binary-package deb
    application/x-rpm rpm
    application/x-iso9660-image iso
    application/vnd.apple.installer+xml mpkg
    application/x-apple-diskimage dmg
    application/wasm wasm
    application/sql sql
    application/x-sh sh
    application/pem-certificate-chain pem
    application/pgp-signature sig asc
    application/vnd.apache.parquet parquet
    application/vnd.android.package-archive apk
    image/png png
    image/jpeg jpg jpeg jpe
    image/gif gif
    image/webp webp
    image/avif avif
    image/heic heic
    image/heif heif
    image/svg+xml svg svgz
    image/tiff tif tiff
    image/bmp bmp
    image/vnd.microsoft.icon ico
    image/vnd.adobe.photoshop psd
    image/jxl jxl
    audio/mpeg mp3
    audio/mp4 m4a
    audio/aac aac
    audio/flac flac
    audio/ogg oga ogg opus
    audio/wav wav
    audio/midi mid midi
    video/mp4 mp4 m4v
    video/mpeg mpeg mpg
    video/webm webm
    video/ogg ogv
    video/quicktime mov qt
    video/matroska mkv
    video/x-msvideo avi
    video/mp2t ts
    font/woff woff
    font/woff2 woff2
    font/ttf ttf
    font/otf otf
    model/gltf-binary glb
    model/stl stl
    """
}
