export class DataDirectoryInUse extends Error {
  override readonly name = "DataDirectoryInUse";

  constructor(dataDir: string) {
    super(
      `The data folder ${dataDir} is in use by another running Binnacle server. ` +
        "Stop that server first, or give this one a data folder of its own.",
    );
  }
}
