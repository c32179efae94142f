import ArgumentParser
import TransferAPI

/// The options for S3 objects, of downloads and uploads.
struct S3Arguments: ParsableArguments {
  @Option(help: ArgumentHelp("The URL of an S3 server other than AWS.", valueName: "url"))
  var endpoint: String?

  @Option(help: ArgumentHelp("The profile of ~/.aws for S3.", valueName: "name"))
  var profile: String?

  @Option(help: ArgumentHelp("The region for S3.", valueName: "name"))
  var region: String?

  var options: JobOptions.S3 {
    var options = JobOptions.S3()
    (options.endpoint, options.profile, options.region) = (endpoint, profile, region)
    return options
  }
}
