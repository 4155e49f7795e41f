/** Errors that say why an import cannot start or go on. The user can correct them in the file. */

export class ImportFault extends Error {
  override readonly name = 'ImportFault'
  /** The part of the file that is to blame: a column or a row. */
  readonly part: string

  constructor(part: string, message: string) {
    super(message)
    this.part = part
  }
}
