import Testing

@testable import transferctl

@Suite struct RepeatedOptionTests {
  @Test(
    "an option whose first value would be lost is found, under each of its names",
    arguments: [
      ("add -i a -i b", "-i"), ("add -i a --from-file=b", "--from-file"), ("upload -0i a -i b --to x", "-i"),
      ("add http://h/ --checksum md5=1 --checksum sha-256=2", "--checksum"), ("upload f --to a --to=b", "--to"),
      ("wait --batch a --batch b", "--batch"), ("remove --state failed --state cancelled", "--state"),
      ("add http://h/ -o a --output b", "--output"), ("set 1 --url a --url b", "--url"),
      ("add http://h/ --key a --key a", "--key"), ("add --metalink a --metalink b", "--metalink"),
    ])
  func found(_ line: String, _ name: String) {
    #expect(RepeatedOption.first(in: line.split(separator: " ").map(String.init)) == name)
  }

  @Test(
    "settings, options of several values, other options with the same letters and words after -- are not",
    arguments: [
      "add http://h/ -d a -d b --priority 1 --priority -5", "add http://h/ --header A:1 --header B:2",
      "add http://h/ --mirror a --mirror b", "add -i - --input-format urls --checksum md5=1 --checksums s",
      "add -i a -- -i -i", "status --batch b --state failed", "upload - --to x --name n",
      "add http://h/ --after batch:a --after batch:b --batch c", "",
    ])
  func notFound(_ line: String) {
    #expect(RepeatedOption.first(in: line.split(separator: " ").map(String.init)) == nil)
  }
}
