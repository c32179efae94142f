import TransferAPI

/// Aligned columns of text. Widths only grow, so rows may be printed page by page.
struct Table {
  enum Alignment { case left, right }

  struct Column {
    let title: String
    var alignment = Alignment.left
  }

  private let columns: [Column]
  private var widths: [Int]
  private var hasHeader = false
  /// The largest width of a line; the last cell is shortened to it. `nil` never shortens a cell.
  private let maximum: Int?

  init(_ columns: [Column], maximum: Int? = nil) {
    self.columns = columns
    self.maximum = maximum
    widths = columns.map(\.title.columns)
  }

  /// The lines for `rows`; the first call adds the header. Cells are made printable. `style` colours the padded cell
  /// of (row, column).
  mutating func lines(
    _ rows: [[String]], _ paint: Paint = Paint(isOn: false),
    style: (Int, Int, String) -> String = { $2 }
  ) -> [String] {
    let rows = rows.map { $0.map(\.printable) }
    for row in rows {
      for (index, cell) in row.enumerated() { widths[index] = max(widths[index], cell.columns) }
    }
    var lines: [String] = []
    if !hasHeader {
      lines.append(paint.header(line(columns.map(\.title)) { $1 }))
      hasHeader = true
    }
    for (number, row) in rows.enumerated() { lines.append(line(row) { style(number, $0, $1) }) }
    return lines
  }

  private func line(_ cells: [String], _ style: (Int, String) -> String) -> String {
    cells.enumerated().map { index, cell in
      var cell = cell
      if let maximum, index == cells.count - 1 {
        cell = cell.fitted(to: max(8, maximum - widths.dropLast().reduce(0) { $0 + $1 + 2 }))
      }
      let isLast = index == cells.count - 1
      let padded =
        columns[index].alignment == .right
        ? cell.paddedLeft(to: widths[index]) : isLast ? cell : cell.padded(to: widths[index])
      return style(index, padded)
    }.joined(separator: "  ")
  }
}
