/** Error of a file that cannot be imported any further. Users can fix it in the file. */

/** Names in a file have any length; a message with one stays readable. */
const MESSAGE_LENGTH_MAX = 500

export class ImportFault extends Error {
  override readonly name = 'ImportFault'
  /** Part of the file with the error: a column or a row. */
  readonly part: string

  constructor(part: string, message: string) {
    super(shortened(message))
    this.part = shortened(part)
  }
}

export function emptyFile(): ImportFault {
  return new ImportFault('header', 'The file is empty. Its first row must be the header row.')
}

function shortened(text: string): string {
  return text.length <= MESSAGE_LENGTH_MAX ? text : `${text.slice(0, MESSAGE_LENGTH_MAX).toWellFormed()}…`
}
