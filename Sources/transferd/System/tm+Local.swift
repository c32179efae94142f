import FoundationEssentials
import Glibc

extension tm {
  /// A time as the machine's time zone has it. The zone is read anew, because it may change while the daemon runs.
  init(local date: Date) {
    self.init()
    var time = time_t(clamping: Int64(exactly: date.timeIntervalSince1970.rounded(.down)) ?? 0)
    tzset()
    localtime_r(&time, &self)
  }
}
