import Foundation
import TestSupport
import Testing

@testable import TransferEngine

/// The documents in which servers list directories.
@Suite struct ListingParserTests {
  /// Reads a document in pieces of this size.
  private func items(
    _ document: String, _ parser: some ListingParser, pieces: Int = .max
  ) throws -> [ListedItem] {
    var parser = parser
    var items: [ListedItem] = []
    var rest = Array(document.utf8)[...]
    while !rest.isEmpty {
      try parser.read(rest.prefix(pieces)) { items.append($0) }
      rest = rest.dropFirst(pieces)
    }
    try parser.finish { items.append($0) }
    return items
  }

  private func references(_ html: String) throws -> [String] {
    let whole = try items(html, HTMLIndexParser())
    #expect(try items(html, HTMLIndexParser(), pieces: 1) == whole)
    return whole.map { if case .reference(let text, nil) = $0 { text } else { "?" } }
  }

  static let nginx = """
    <html>\r\n<head><title>Index of /x/</title></head>\r\n<body>\r\n<h1>Index of /x/</h1><hr><pre><a href="../">../</a>\r
    <a href="sub/">sub/</a>            01-Jan-2024 10:00    -\r\n<a href="a%20b%26c.iso">a b&amp;c.iso</a>  01-Jan-2024 10:00  12\r\n</pre><hr></body></html>
    """
  static let apache = """
    <!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">
    <html><body><table><tr><th><a href="?C=N;O=D">Name</a></th><th><a href="?C=M;O=A">Last modified</a></th></tr>
    <tr><td><img src="/icons/back.gif" alt="[PARENTDIR]"></td><td><a href="/pub/">Parent Directory</a></td></tr>
    <tr><td><img src="/icons/folder.gif" alt="[DIR]"></td><td><a href="sub/">sub/</a></td></tr>
    <tr><td><a href="a&amp;b.txt">a&amp;b.txt</a></td></tr></table><address>Apache Server at <a href="mailto:x@y">x</a></address></body></html>
    """
  static let caddy = """
    <!DOCTYPE html><html><head><style>body > a { content: "<a href='style'>"; }</style>
    <script>if (1 < 2) document.write('<a href="script">');</script></head><body><!-- <a href="comment"> -->
    <a href="/">Folders</a><a href="./sub/"><span class="name">sub</span></a><a href="./file%20one.txt">file one.txt</a>
    <A CLASS=x HREF=plain.txt>plain</A><a name=anchor>no</a><a data-href="no" href='quoted &#39;x&#39;.txt'>q</a></body></html>
    """

  @Test("the links of nginx, Apache and Caddy are found, and no others")
  func html() throws {
    #expect(try references(Self.nginx) == ["../", "sub/", "a%20b%26c.iso"])
    #expect(
      try references(Self.apache) == ["?C=N;O=D", "?C=M;O=A", "/pub/", "sub/", "a&b.txt", "mailto:x@y"])
    #expect(
      try references(Self.caddy) == ["/", "./sub/", "./file%20one.txt", "plain.txt", "quoted 'x'.txt"])
  }

  @Test("a page that ends in the middle of its list or of a tag is cut off")
  func cutOff() throws {
    func isCutOff(_ html: some StringProtocol) -> Bool {
      var parser = HTMLIndexParser()
      parser.read(Array(html.utf8)) { _ in }
      return parser.isCutOff
    }
    for page in [Self.nginx, Self.apache, Self.caddy, "", "</ul><UL type=x>\n<li>x</UL >", "<pre>x</pre>"] {
      #expect(!isCutOff(page), "\(page)")
    }
    for page in ["<pre>x", "<ul><li><a href=x>x</a><ul></ul>", "<html><a href=x", "<script>x", "<!-- x"] {
      #expect(isCutOff(page), "\(page)")
    }
    #expect(isCutOff(Self.nginx.dropLast(40)))
  }

  @Test("a list without a length that is cut off is no list", arguments: [true, false])
  func cutOffOnTheWire(isWhole: Bool) async throws {
    let page = isWhole ? Self.nginx : String(Self.nginx.prefix(Self.nginx.count / 2 + 60))
    let server = try LoopbackServer { request in
      guard request.method == "GET" else { return .response(405) }
      return [.raw(Data("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n\(page)".utf8)), .close]
    }
    let request = try TransferRequest.of(server, "/x/")
    let lister = DirectoryLister(session: Session(), request: request)
    do {
      _ = try await lister.list(request.url) { _ in }
      #expect(isWhole)
    } catch TransferError.response(.truncated) {
      #expect(!isWhole)
    }
  }

  @Test("hostile pages end, and what cannot be read is counted")
  func hostileHTML() throws {
    #expect(try references("<<a href=x>") == ["x"])
    #expect(try references("a < b <a href=x") == [])
    #expect(try references("<a href>") == [])
    #expect(try references("<script><a href=x></scripty></SCRIPT ><a href=y>") == ["y"])
    #expect(try references("<a href=\"" + String(repeating: "x", count: 1 << 20) + "\"><a href=y>") == ["?", "y"])
    #expect(try references("<a title='>' href=x>") == ["x"])
    #expect(try references("<a href=&#x2f;&amp;&bad;&#1114112;>") == ["/&&bad;&#1114112;"])
  }

  @Test("MLSD has facts; links, devices and unreadable lines are counted")
  func machineList() throws {
    let text = """
      type=cdir;modify=20240101000000; .\r\ntype=pdir; ..\r\nType=dir;sizd=4096; sub dir\r\nsize=3;type=FILE;perm=r;  leading\r
      type=OS.unix=slink:/etc; link\r\nsize=1; notype\r\nnonsense\r\n\r\ntype=file; last
      """
    let parser = LineListParser { MachineListLine.item($0) }
    let expected: [ListedItem] = [
      .name(Array("sub dir".utf8), isDirectory: true), .name(Array(" leading".utf8), isDirectory: false), .unusable,
      .unusable, .unusable, .name(Array("last".utf8), isDirectory: false),
    ]
    #expect(try items(text, parser) == expected)
    #expect(try items(text, parser, pieces: 1) == expected)
  }

  @Test(
    "long lists are read as servers write them",
    arguments: [
      ("-rw-r--r--   1 owner    group      12 Jan  1 12:00 a b.iso", "f:a b.iso"),
      ("drwxr-xr-x   2 owner    group    4096 Dec 31  2023 sub", "d:sub"),
      ("-rw-r--r--   1 owner          12 Feb 29 2024 no group", "f:no group"),
      ("-rw-r--r--   1 1000     1000   12 1 Jan 12:00 day first", "f:day first"),
      ("-rw-r--r--   1 May Apr   12 Jan  1 12:00  Jan 2 13:00 x", "f: Jan 2 13:00 x"),
      ("lrwxrwxrwx   1 o g 1 Jan  1 12:00 link -> /etc/passwd", "?"), ("total 12", ""),
      ("drwxr-xr-x   2 o g 4096 Dec 31  2023 ..", ""), ("crw------- 1 o g 1, 3 Jan 1 12:00 null", "?"),
      ("-rw-r--r-- 1 o g", "?"), ("01-31-24  03:04PM       <DIR>          sub dir", "d:sub dir"),
      ("01-31-24  03:04PM               1234 a.txt", "f:a.txt"), ("01-31-24  03:04PM what a.txt", "?"),
      (String(repeating: "x", count: 1 << 20), "?"),
    ])
  func longList(_ line: String, _ expected: String) throws {
    let found = try items(line + "\r\n", LineListParser { LongListLine.item($0) }, pieces: 1000).map { item in
      guard case .name(let name, let isDirectory) = item else { return "?" }
      return (isDirectory ? "d:" : "f:") + String(decoding: name, as: UTF8.self)
    }
    #expect(found.joined(separator: ",") == expected)
  }

  @Test("a multistatus names members and whether they are collections, whatever their prefix")
  func multistatus() throws {
    let text = """
      <?xml version="1.0"?><D:multistatus xmlns:D="DAV:"><D:response><D:href>/d/</D:href><D:propstat><D:prop><D:resourcetype>
      <D:collection/></D:resourcetype></D:prop></D:propstat></D:response><response xmlns="DAV:"><href> http://h/d/a%20b </href>
      <propstat><prop><resourcetype/></prop></propstat></response><D:response><D:status>HTTP/1.1 404</D:status></D:response></D:multistatus>
      """
    let expected: [ListedItem] = [
      .reference("/d/", isDirectory: true), .reference("http://h/d/a%20b", isDirectory: false), .unusable,
    ]
    #expect(try items(text, try XMLListParser(.multistatus)) == expected)
    #expect(try items(text, try XMLListParser(.multistatus), pieces: 1) == expected)
    for other in [
      "<a/>", "<html></html>", "", "<D:multistatus xmlns:D='DAV:'>", "<!DOCTYPE a><multistatus xmlns='DAV:'/>",
    ] {
      #expect(throws: TransferError.self) { try self.items(other, try XMLListParser(.multistatus)) }
    }
  }

  @Test("a page of a bucket has keys, prefixes and where it goes on")
  func bucket() throws {
    let text = """
      <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><Prefix>p%2F</Prefix><EncodingType>url</EncodingType>
      <IsTruncated>true</IsTruncated><NextContinuationToken>t/+=</NextContinuationToken><Contents><Key>p/a+b%2Bc</Key><Size>1</Size></Contents>
      <Contents><Key>p/%zz</Key></Contents><CommonPrefixes><Prefix>p/sub/</Prefix></CommonPrefixes></ListBucketResult>
      """
    var parser = try XMLListParser(.bucket)
    var items: [ListedItem] = []
    try parser.read(Array(text.utf8)) { items.append($0) }
    try parser.finish { items.append($0) }
    #expect(items == [.key("p/a b+c"), .unusable, .prefix("p/sub/")])
    #expect(parser.nextPage == "t/+=")
    let plain =
      "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a+b</Key></Contents></ListBucketResult>"
    #expect(try self.items(plain, try XMLListParser(.bucket)) == [.key("a+b")])
  }
}
