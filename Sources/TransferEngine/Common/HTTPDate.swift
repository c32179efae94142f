import FoundationEssentials
import WireValues

/// The three date formats of RFC 9110 §5.6.7.
enum HTTPDate {
  /// Longer than each of the three formats, with room for blanks.
  static let maximumBytes = 128

  static func parse(_ text: String) -> Date? {
    guard text.utf8.count <= maximumBytes else { return nil }
    let words = text.split { " ,-:".contains($0) }.map(String.init)
    guard words.count >= 7 else { return nil }
    // asctime: Sun Nov  6 08:49:37 1994. The others: Sun, 06 Nov 1994 08:49:37 GMT / Sunday, 06-Nov-94 08:49:37 GMT.
    let isAsctime = Int(words[1]) == nil
    guard let month = months.firstIndex(of: (isAsctime ? words[1] : words[2]).lowercased()),
      let day = Int(isAsctime ? words[2] : words[1]),
      var year = Int(isAsctime ? words[6] : words[3]),
      let hour = Int(words[isAsctime ? 3 : 4]), let minute = Int(words[isAsctime ? 4 : 5]),
      let second = Int(words[isAsctime ? 5 : 6]),
      (1...31).contains(day), (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
    else { return nil }
    if (0..<100).contains(year) { year += year < 70 ? 2000 : 1900 }  // checked: two digits
    guard (1970...9999).contains(year) else { return nil }
    let days = daysSince1970(year: year, month: month + 1, day: day)
    return Date(timeIntervalSince1970: Double(days * 86400 + hour * 3600 + minute * 60 + second))
  }

  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  /// The number of days since 1970. Years are counted from March, so that the leap day comes last.
  private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = year / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
