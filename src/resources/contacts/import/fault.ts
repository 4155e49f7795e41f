/** Error of a file that cannot be imported any further. Users can fix it in the file. */

export class ImportFault extends Error {
  override readonly name = 'ImportFault'
  /** Part of the file with the error: a column or a row. */
  readonly part: string

  constructor(part: string, message: string) {
    super(message)
    this.part = part
  }
}
