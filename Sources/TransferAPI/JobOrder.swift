/// The order of a list of jobs.
public enum JobOrder: String, Codable, CaseIterable, Sendable {
  /// Ascending ids: the order in which the jobs were added.
  case id
  /// Descending ids.
  case newest
  /// Higher priorities first, and among equal ones ascending ids: the order in which jobs start.
  case priority
}
