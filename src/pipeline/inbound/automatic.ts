/** Tells which received mail was sent by programs (RFC 3834 §5, and header fields of vendors). */

import { AUTO_SUBJECT } from '../../protocols/bounces/phrases.ts'
import { isAutoSubmitted, VACATION_FIELDS } from '../../protocols/bounces/sender.ts'
import { fold } from '../../protocols/bounces/text/fold.ts'
import type { Automatic } from '../../store/model/schema/inbound.ts'
import type { InboundContent } from './stored-content.ts'

const EXCHANGE_FIELDS = ['x-auto-response-suppress', 'x-ms-exchange-inbox-rules-loop']

type Headers = InboundContent['headers']

/** @returns null for mail that shows no sign of a program */
export function automaticOf(headers: Headers): Automatic | null {
  const textOf = (name: string) => fold(headerOf(headers, name) ?? '')
  const has = (name: string) => headerOf(headers, name) !== undefined
  if (textOf('content-type').startsWith('multipart/report') || has('x-failed-recipients')) return 'report'
  const submitted = isSubmittedByProgram(headers) ? textOf('auto-submitted') : ''
  const precedence = textOf('precedence')
  if (submitted.startsWith('auto-replied') || /auto[_-]?reply/.test(precedence)) return 'auto-reply'
  if (VACATION_FIELDS.some(has)) return 'auto-reply'
  // Exchange marks its replies to absent people's mail as generated mail, or by fields of its own.
  const isMarked = submitted !== '' || EXCHANGE_FIELDS.some(has)
  if (isMarked && AUTO_SUBJECT.test(textOf('subject'))) return 'auto-reply'
  const isForMany = has('list-id') || has('list-unsubscribe') || /^(?:bulk|list|junk)/.test(precedence)
  return submitted !== '' || isForMany ? 'bulk' : null
}

/** Tells whether the message says that no person sent it (RFC 3834 §5). */
export function isSubmittedByProgram(headers: Headers): boolean {
  return isAutoSubmitted(headerOf(headers, 'auto-submitted'))
}

/** Value of the first field of that name, given in lower case. */
export function headerOf(headers: Headers, wanted: string): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1]
}
