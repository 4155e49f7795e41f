/**
 * Writes the fields that a received message gets at its top when its source is given out: Return-Path, the
 * results of the checks, and Received (RFC 5321 §4.4). They are made from the stored row, so that the stored
 * bytes, their hash and positions in them are those that the client sent, and older messages have them, too.
 */
import { idText } from '../../lib/ids.ts'
import { receivedField } from '../../protocols/mime/received-field.ts'
import { fieldsText, type HeaderField } from '../../protocols/smtp/header-field.ts'
import type { InboundMessageRow } from '../../store/model/schema/inbound.ts'
import { RESULTS_FIELD } from './verdicts/results-field.ts'

export type TracedInbound = Pick<
  InboundMessageRow,
  'id' | 'sender' | 'recipients' | 'clientIp' | 'helo' | 'tls' | 'createdAt' | 'authenticationResults'
>

/** @returns whole lines; mail that was delivered on this host has its Received field in its stored bytes */
export function traceText(row: TracedInbound, mailHost: string): string {
  const { sender, authenticationResults: results } = row
  const fields: HeaderField[] = [{ name: 'Return-Path', value: `<${sender}>` }]
  if (results !== null) fields.push({ name: RESULTS_FIELD, value: results })
  if (row.clientIp !== null) fields.push(receivedFrom(row.clientIp, row, mailHost))
  return fieldsText(fields)
}

/** Returns the Received field of a message that a client at this address sent. */
export function receivedFrom(
  address: string,
  row: Pick<TracedInbound, 'id' | 'helo' | 'tls' | 'createdAt' | 'recipients'>,
  mailHost: string,
): HeaderField {
  const { id, helo, tls, createdAt } = row
  const recipients = JSON.parse(row.recipients) as string[]
  return receivedField({
    client: { helo, address, tls },
    by: mailHost,
    protocol: tls === null ? 'ESMTP' : 'ESMTPS',
    id: idText(id),
    recipient: recipients.length === 1 ? recipients[0] : undefined,
    at: createdAt,
  })
}
