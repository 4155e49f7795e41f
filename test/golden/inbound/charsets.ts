/** Every charset where mail has it: in a body, in a subject, in the name of a file. */
import { CHARSET_WORDS } from './charset-words.ts'
import type { Fixture } from './fixture.ts'

export const CHARSETS: readonly Fixture[] = CHARSET_WORDS.flatMap(({ charset, text, octets }) => {
  const bytes = Buffer.from(octets, 'base64')
  const escaped = (sign: string) =>
    [...bytes].map(octet => `${sign}${octet.toString(16).toUpperCase().padStart(2, '0')}`).join('')
  return [
    {
      name: `${charset}: a body`,
      mail: `Content-Type: text/plain; charset=${charset}\nContent-Transfer-Encoding: base64\n\n${octets}\n`,
      expected: { text, html: null, faults: [] },
    },
    {
      name: `${charset}: a subject`,
      mail: `Subject: =?${charset}?Q?${escaped('=')}?=\n\nx\n`,
      expected: { subject: text },
    },
    {
      name: `${charset}: the name of a file`,
      mail: `Content-Type: application/pdf\nContent-Disposition: attachment; filename*=${charset}''${escaped('%')}\n\nx\n`,
      expected: { parts: [{ filename: text, contentType: 'application/pdf' }] },
    },
  ]
})
