import Foundation
import Testing
import TransferAPI

@testable import Store

@Suite struct FolderTests {
  private static let folder = NewFolder(directory: "/srv/out", to: "https://h/in/")

  @Test("folders are stored, listed by owner and removed with their files; ids are not used again")
  func folders() async throws {
    let store = try Fixture().store
    var newOnly = Self.folder
    newOnly.newOnly = true
    let first = try #require(try await store.addFolder(Self.folder, owner: 1, at: Fixture.at(1)))
    let second = try #require(try await store.addFolder(newOnly, owner: 2, at: Fixture.at(2)))
    #expect(!first.needsBaseline && second.needsBaseline && first.folder.id != second.folder.id)
    #expect(try await store.folders(in: .everything) == [first, second])
    #expect(try await store.folders(in: .owner(2)) == [second])
    try await store.endBaseline(of: second.folder.id)
    #expect(try await store.folders(in: .owner(2)).first?.needsBaseline == false)
    #expect(try await store.removeFolder(second.folder.id, in: .owner(1)) == false)
    #expect(try await store.removeFolder(second.folder.id, in: .everything))
    #expect(try await store.removeFolder(second.folder.id, in: .everything) == false)
    let third = try #require(try await store.addFolder(Self.folder, owner: 2, at: Fixture.at(3)))
    #expect(third.folder.id > second.folder.id)
  }

  @Test("there are so many folders at most, in all and of one owner")
  func limits() async throws {
    let store = try Fixture().store
    func add(_ owner: UInt32) async throws -> Bool {
      try await store.addFolder(Self.folder, owner: owner, at: Fixture.at(1), most: 3, own: 2) != nil
    }
    var added: [Bool] = []
    for owner in [UInt32(1), 1, 1, 2, 2] { added.append(try await add(owner)) }
    #expect(added == [true, true, false, true, false])
    #expect(try await store.folders(in: .everything).count == 3)
  }

  @Test("versions are known by path, size and time, once each, and only uploads are counted")
  func versions() async throws {
    let store = try Fixture().store
    let id = try #require(try await store.addFolder(Self.folder, owner: 1, at: Fixture.at(1))).folder.id
    let versions = (0..<4).map { FileVersion(path: "a", size: Int64($0 / 2), modified: Int64($0 % 2)) }
    #expect(try await store.note([(versions[0], JobID(5)), (versions[3], nil)], of: id))
    #expect(try await store.note([(versions[0], JobID(6))], of: id))
    #expect(try await store.knownVersions(versions, of: id) == [versions[0], versions[3]])
    #expect(try await store.knownVersions(versions, of: id + 1).isEmpty)
    #expect(try await store.folders(in: .everything).first?.folder.uploads == 1)
    _ = try await store.removeFolder(id, in: .everything)
    #expect(try await store.knownVersions(versions, of: id).isEmpty)
    #expect(try await store.note([(versions[1], nil)], of: id) == false)
  }

  @Test("a version is forgotten when its file has been gone for 30 days, not when it was away for a while")
  func gone() async throws {
    let store = try Fixture().store
    let id = try #require(try await store.addFolder(Self.folder, owner: 1, at: Fixture.at(1))).folder.id
    let other = try #require(try await store.addFolder(Self.folder, owner: 1, at: Fixture.at(1))).folder.id
    // More than one page of them.
    let versions = (0..<4500).map { FileVersion(path: "\($0)", size: 1, modified: 1) }
    let kept = FileVersion(path: "0", size: 2, modified: 1)
    #expect(try await store.note(versions.map { ($0, JobID(1)) } + [(kept, nil)], of: id))
    #expect(try await store.note([(versions[7], nil)], of: other))
    let all = Set(versions + [kept])
    let day = 86400.0
    #expect(try await store.forgetGoneVersions(of: id, present: [], now: Fixture.at(0)) == 0)
    // The file system was away for a day.
    #expect(try await store.forgetGoneVersions(of: id, present: all, now: Fixture.at(day)) == 0)
    #expect(try await store.forgetGoneVersions(of: id, present: [kept], now: Fixture.at(2 * day)) == 0)
    #expect(try await store.forgetGoneVersions(of: id, present: [kept], now: Fixture.at(32 * day - 1)) == 0)
    #expect(try await store.knownVersions(Array(all), of: id) == all)
    #expect(try await store.forgetGoneVersions(of: id, present: [kept], now: Fixture.at(32 * day)) == 4500)
    #expect(try await store.knownVersions(Array(all), of: id) == [kept])
    #expect(try await store.knownVersions([versions[7]], of: other) == [versions[7]])
    // They were uploaded nevertheless.
    #expect(try await store.folders(in: .everything).map(\.folder.uploads) == [4500, 0])
  }

  @Test("a clock that was set back does not make a file old")
  func clock() {
    let version = FileVersion(path: "a", size: 1, modified: 1)
    let later = GoneVersions([(version, Fixture.at(100))], present: [], now: Fixture.at(50))
    #expect(later.gone == [version] && later.forgotten.isEmpty && later.returned.isEmpty)
  }
}
