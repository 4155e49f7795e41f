/**
 * Lists a received message after it has been parsed: stores its fields and verdicts, and records
 * `email.received`. A message that routes drop is removed instead. Called by `inbound-processor.ts`.
 */

import { foldText } from '../../lib/fold-text.ts'
import { type Id, wireId } from '../../lib/ids.ts'
import type { ReceivedMailbox } from '../../protocols/mime/read/addresses.ts'
import type { FoundPart } from '../../protocols/mime/read/read-mail.ts'
import { domainOf, mailboxText } from '../../protocols/smtp/address.ts'
import type { EncodedContent } from '../../resources/emails/content.ts'
import { INBOUND_COUNTER } from '../../resources/emails/inbound-list.ts'
import { logRoutes } from '../../resources/emails/inbound-route-log.ts'
import { joinThread, NO_REFS } from '../../resources/emails/threads.ts'
import { recordEvents } from '../../resources/events/record.ts'
import { releaseBlobs } from '../../store/blobs/blobs.ts'
import { blobName } from '../../store/blobs/staged.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { InboundMessageRow } from '../../store/model/schema/inbound.ts'
import { answeredEmails } from './answered-email.ts'
import type { ReadMail } from './mail-reader.ts'
import { type Verdicts, verdictColumns } from './message-verdicts.ts'
import { droppedEntry, type MatchedRoute, type Routed, recordedRoutes } from './routed.ts'
import type { StoredPart } from './stored-content.ts'
import { inboundRowView, LISTED_COLUMNS } from './view.ts'

export interface ListInbound {
  accountId: Id
  id: Id
  /** Parsed message; null if it could not be read. */
  mail: ReadMail | null
  /** Reason why the message could not be read; null if it could. */
  fault: string | null
  verdicts: Verdicts
  /** Decisions of the account's routes; null if no route matches. */
  routed: Routed | null
  at: number
}

export interface DropInbound extends Pick<ListInbound, 'accountId' | 'id' | 'mail' | 'at'> {
  /** Routes of all recipients. */
  matches: readonly MatchedRoute[]
}

const FAULT_CHARACTERS_MAX = 500
/** Unit in which the writer accounts for the work of a message. */
const WEIGHT_UNIT_BYTES = 8_192

export const listInboundCommands = {
  /** @returns false when the message was listed before or has been deleted */
  listInbound: command<ListInbound, boolean>(
    async (tx, input) => {
      const { accountId, id, mail, at } = input
      const key = { accountId, id }
      const [row] = await tx.rows.lock('inboundMessages', [key], ['listedAt', ...LISTED_COLUMNS, 'domainId'])
      if (!row || row.listedAt !== null) return false
      const contentId = mail ? await storeContent(tx, mail.content) : null
      const read = { ...readColumns(tx, input), ...verdictColumns(input.verdicts) }
      // Mail without a return path reports on other mail (RFC 5321 §4.5.5).
      if (row.sender === '') read.automatic ??= 'report'
      await tx.rows.update(
        'inboundMessages',
        ['accountId', 'id'],
        [{ ...key, ...read, contentId, listedAt: at }],
      )
      const { domainId, ...listed } = { ...row, ...read }
      const view = inboundRowView(listed)
      const { entries, targets } = input.routed
        ? await recordedRoutes(tx, accountId, input.routed)
        : { entries: [], targets: undefined }
      await logRoutes(tx, { accountId, messageId: id, sender: view.from, subject: view.subject, at }, entries)
      const emails = await answeredEmails(tx.rows.find, accountId, mail?.referred ?? [])
      const [answered] = emails
      await joinThread(tx, { ...key, refs: mail?.refs ?? NO_REFS }, emails)
      await tx.rows.insert('inboundSubjects', [
        { ...key, subject: foldText(listed.subject), domains: domainsOf(row.recipients), unread: 1 },
      ])
      tx.count(accountId, INBOUND_COUNTER, '', 1)
      await recordEvents(tx, [
        {
          accountId,
          subjectId: id,
          type: 'email.received',
          recipient: null,
          data: {
            ...view,
            // The types of the SDKs have no `null` here.
            message_id: view.message_id ?? '',
            in_reply_to_email_id: answered ? wireId('eml', answered.id) : null,
            email_id: wireId('inb', id),
          },
          at,
          origin: { domainId, broadcastId: null, simulated: 0 },
          targets,
        },
      ])
      return true
    },
    { weigh: ({ mail }) => 1 + Math.floor((mail?.content.body.length ?? 0) / WEIGHT_UNIT_BYTES) },
  ),

  /**
   * Removes a message in place of listing it. Only the log of its routes remains.
   * @returns names of blobs without references; null when the message was listed before or has been deleted
   */
  dropInbound: command<DropInbound, string[] | null>(async (tx, { accountId, id, mail, matches, at }) => {
    const columns = ['listedAt', 'sender', 'rawHash'] as const
    const [row] = await tx.rows.lock('inboundMessages', [{ accountId, id }], columns)
    if (!row || row.listedAt !== null) return null
    await tx.db
      .deleteFrom('inboundMessages')
      .where('accountId', '=', accountId)
      .where('id', '=', id)
      .execute()
    const [author] = mail?.from ?? []
    const sender = author ? mailboxText(author) : row.sender
    const message = { accountId, messageId: null, sender, subject: mail?.subject ?? '', at }
    await logRoutes(tx, message, matches.map(droppedEntry))
    return releaseBlobs(tx, [blobName(row.rawHash)])
  }),
}

async function storeContent(tx: Tx, content: EncodedContent): Promise<number> {
  const [id] = await tx.rows.reserve('contents', 1)
  await tx.rows.insert('contents', [{ id: id!, ...content, refs: 1 }])
  return id!
}

type ReadColumns = Pick<
  InboundMessageRow,
  | 'parseError'
  | 'subject'
  | 'automatic'
  | 'messageId'
  | 'fromList'
  | 'toList'
  | 'ccList'
  | 'bccList'
  | 'replyToList'
  | 'attachments'
>

function readColumns(tx: Tx, { mail, fault, at }: ListInbound): ReadColumns {
  const faults = [...(fault === null ? [] : [fault]), ...(mail?.faults ?? [])]
  return {
    parseError:
      faults.length === 0 ? null : faults.join('; ').replaceAll('\0', '').slice(0, FAULT_CHARACTERS_MAX),
    subject: mail?.subject ?? '',
    automatic: mail?.automatic ?? null,
    messageId: mail?.messageId ?? null,
    fromList: listJson(mail?.from),
    toList: listJson(mail?.to),
    ccList: listJson(mail?.cc),
    bccList: listJson(mail?.bcc),
    replyToList: listJson(mail?.replyTo),
    attachments: partsJson(tx, mail?.parts ?? [], at),
  }
}

function listJson(list: readonly ReceivedMailbox[] = []): string | null {
  return list.length === 0 ? null : JSON.stringify(list)
}

function partsJson(tx: Tx, parts: readonly FoundPart[], at: number): string | null {
  if (parts.length === 0) return null
  return JSON.stringify(parts.map((part): StoredPart => ({ id: wireId('att', tx.newId(at)), ...part })))
}

/** Joins the distinct recipient domains, with a blank around each. */
function domainsOf(recipients: string): string {
  const names = (JSON.parse(recipients) as string[]).map(domainOf)
  return ` ${[...new Set(names)].join(' ')} `
}
