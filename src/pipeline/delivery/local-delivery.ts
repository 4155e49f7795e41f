/**
 * Delivers mail for a domain that this installation receives: stores the message in the inbox without a
 * network connection.
 */

import { wireId } from '../../lib/ids.ts'
import { HOPS_MAX, hopCountOf } from '../../protocols/mime/read/head.ts'
import { receivedField } from '../../protocols/mime/received-field.ts'
import { fieldsText } from '../../protocols/smtp/header-field.ts'
import type { SmtpReply } from '../../protocols/smtp/reply.ts'
import type { HostedDomain } from '../../resources/domains/domain-rows.ts'
import type { inboundCommands } from '../../resources/emails/inbound-rows.ts'
import type { BlobFiles } from '../../store/blobs/blobs.ts'
import type { BlobReservations } from '../../store/blobs/reservations.ts'
import type { ClaimedDelivery, Run } from '../../store/model/command.ts'
import type { OutgoingMessage } from './message/message.ts'

/**
 * Stores the message in the inbox. Resolves to the reply, which is positive unless the message loops.
 * @throws StorageUnavailable when the message cannot be stored; the delivery is retried
 */
export type DeliverLocally = (
  delivery: ClaimedDelivery,
  domain: HostedDomain,
  message: OutgoingMessage,
  now: number,
) => Promise<SmtpReply>

interface LocalDeliveryOptions {
  run: Run<typeof inboundCommands>
  blobs: BlobFiles
  reservations: BlobReservations
  /** Host name for the `Received` field. */
  localName: string
}

const LOOPING: SmtpReply = {
  code: 554,
  enhanced: '5.4.6',
  text: 'the message has come through too many servers',
}

/**
 * The stored message names its delivery, so that a delivery that is repeated because its result was not
 * recorded stores the message only once.
 */
export function createLocalDelivery({
  run,
  blobs,
  reservations,
  localName,
}: LocalDeliveryOptions): DeliverLocally {
  return async ({ address, domain, emailId, ordinal }, { accountId, id: domainId }, message, now) => {
    const [head, ...rest] = message.bytes
    if (hopCountOf(head!) >= HOPS_MAX) return LOOPING
    const id = `${wireId('eml', emailId)}.${ordinal}`
    const trace = receivedField({ client: null, by: localName, protocol: 'local', id, at: now })
    const bytes = Buffer.concat([Buffer.from(fieldsText([trace])), head!, ...rest])
    const blob = await blobs.stage(bytes)
    const reservation = reservations.open([blob])
    let isSettled = false
    try {
      await reservation.place([blob])
      await run('storeInbound', {
        messages: [{ accountId, domainId, recipients: [address] }],
        sender: message.mailFrom,
        clientIp: null,
        helo: null,
        tls: null,
        sizeBytes: bytes.length,
        blob,
        source: { emailId, ordinal },
        at: now,
      })
      isSettled = true
    } finally {
      await reservation.end(isSettled)
    }
    const text = `handed over to the inbox of ${domain} on this server, over no network`
    return { code: 250, enhanced: '2.0.0', text }
  }
}
