import ArgumentParser
import TransferAPI

/// The options of `add` for whole directories.
struct ListingArguments: ParsableArguments {
  @Flag(help: "Download all files of a directory and of those below it; prints the id of the listing.")
  var recursive = false

  @Option(
    help: ArgumentHelp(
      "With --recursive: only files that match, like '*.iso' or 'docs/**'; repeatable.", valueName: "glob"))
  var include: [String] = []

  @Option(
    help: ArgumentHelp(
      "With --recursive: no files and directories that match; repeatable.", valueName: "glob"))
  var exclude: [String] = []

  @Option(
    help: ArgumentHelp(
      "With --recursive: how far below the directory to go; 0 is the directory itself.", valueName: "n"))
  var maxDepth: Int?

  var options: JobOptions.Listing {
    var options = JobOptions.Listing()
    options.recursive = recursive
    (options.include, options.exclude, options.maxDepth) = (include, exclude, maxDepth)
    return options
  }
}
