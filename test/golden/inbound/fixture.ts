/** A received mail by its text, and what is to be read in it. */
import type { FoundPart, ParsedMail } from '../../../src/protocols/mime/read/read-mail.ts'

export interface Fixture {
  name: string
  /** One character a byte; LF alone ends its lines. */
  mail: string
  /** Nothing is said of what is left out; of parts neither. */
  expected: Partial<Omit<ParsedMail, 'parts'>> & { parts?: readonly Partial<FoundPart>[] }
}

/** UTF-8, one character a byte. */
export function utf8(text: string): string {
  return Buffer.from(text).toString('latin1')
}

export function multipart(kind: string, parts: readonly string[], boundary = 'b'): string {
  const inner = parts.map(part => `--${boundary}\n${part}\n`).join('')
  return `Content-Type: multipart/${kind}; boundary="${boundary}"\n\n${inner}--${boundary}--\n`
}
