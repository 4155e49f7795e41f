/**
 * Messages for the tests of this folder: sources with defaults, composed into the octets that go on the
 * wire.
 */
import { type BodySource, composeBody } from '../../../../src/protocols/mime/compose-body.ts'
import { composeHead, type HeadSource } from '../../../../src/protocols/mime/compose-head.ts'
import type { Mailbox } from '../../../../src/protocols/smtp/address.ts'
import { serializeFields } from '../../../../src/protocols/smtp/header-field.ts'

export const SENT_AT = Date.UTC(2026, 10, 21, 13, 5, 9)

export function mailbox(address: string, name: string | null = null): Mailbox {
  return { name, address, domain: address.slice(address.lastIndexOf('@') + 1) }
}

export function headSource(args: Partial<HeadSource> = {}): HeadSource {
  return {
    from: mailbox('ann@here.test', 'Ann'),
    to: [mailbox('bob@there.test')],
    cc: [],
    replyTo: [],
    subject: 'Hello',
    sentAt: SENT_AT,
    messageId: '<1@send.here.test>',
    headers: [],
    ...args,
  }
}

export function bodySource(args: Partial<BodySource> = {}): BodySource {
  return { html: null, text: null, attachments: [], seed: 'eml_1', ...args }
}

/** The whole message. */
export function compose(args: Partial<HeadSource & BodySource> = {}): Buffer {
  const { fields, body } = composeBody(bodySource(args))
  const head = composeHead(headSource(args))
  return Buffer.concat([serializeFields([...head, ...fields]), Buffer.from('\r\n'), body])
}

/** Returns the message as text with one character per octet. */
export function wire(args: Partial<HeadSource & BodySource> = {}): string {
  return compose(args).toString('latin1')
}

/** Lines without their CRLF. */
export function wireLines(message: Buffer): string[] {
  return message.toString('latin1').split('\r\n')
}
