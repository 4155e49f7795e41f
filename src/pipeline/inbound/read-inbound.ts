/**
 * Parses a received message into the form in which it is stored. Runs on the inbound worker thread or in a
 * reader process.
 */

import { type ParsedMail, readHeadOnly, readMail } from '../../protocols/mime/read/read-mail.ts'
import { threadRefs } from '../../resources/emails/threads.ts'
import { referredEmails } from './answered-email.ts'
import { automaticOf } from './automatic.ts'
import type { ReadMail } from './mail-reader.ts'
import { encodeInboundContent } from './stored-content.ts'
import { isForgedAuthResults } from './verdicts/strip-auth-results.ts'

/** @param mailHost authentication results in its name are left out, since they were made up by the sender */
export function readInbound(bytes: Buffer, mailHost: string): ReadMail {
  return stored(readMail(bytes), mailHost)
}

/**
 * Reads no more than the header section.
 *
 * @param bytes the beginning of the message is enough
 * @param fault why the rest is not read
 */
export function readInboundHead(bytes: Buffer, fault: string, mailHost: string): ReadMail {
  return stored(readHeadOnly(bytes, fault), mailHost)
}

function stored({ html, text, headers, ...rest }: ParsedMail, mailHost: string): ReadMail {
  const believed = headers.filter(([name, value]) => !isForgedAuthResults(name, value, mailHost))
  const encoded = encodeInboundContent({ html, text, headers: believed })
  const automatic = automaticOf(headers)
  return {
    ...rest,
    automatic,
    referred: referredEmails(headers),
    refs: threadRefs(headers, rest.messageId),
    content: { ...encoded, body: new Uint8Array(encoded.body) },
  }
}
