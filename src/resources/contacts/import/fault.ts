/** Why a file of contacts cannot be taken, or not any further: the user's to mend. */

export class ImportFault extends Error {
  override readonly name = 'ImportFault'
  /** The part of the file that is to blame: a column or a row. */
  readonly part: string

  constructor(part: string, message: string) {
    super(message)
    this.part = part
  }
}
