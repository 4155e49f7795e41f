/**
 * The command that stores a request. Idempotency, sender domain, topic, suppressions and quota are decided in
 * the transaction that writes emails and deliveries, so that no race evades a decision.
 */

import { type Id, idKey } from '../../lib/ids.ts'
import { foldAddress } from '../../protocols/smtp/address.ts'
import type { Quota } from '../../resources/accounts/plans.ts'
import { type ConsentBook, openConsentBook, type TopicMail } from '../../resources/contacts/consent.ts'
import { type DomainBan, isBanned, listDomainBans } from '../../resources/domains/banned.ts'
import { acceptsMail, SENDING_COLUMNS, whyNotSent } from '../../resources/domains/status.ts'
import {
  LINKING,
  type LinkingDomain,
  type LinkTermsIds,
  linkTermsFor,
} from '../../resources/emails/link-terms.ts'
import { type Objected, onSuppressionList, unsubscribed } from '../../resources/events/email-events.ts'
import { batchCommand, concurrent, type Tx } from '../../store/model/command.ts'
import type { DomainRow, SuppressionReason } from '../../store/model/schema.ts'
import { refuseSendTime } from './field-rules.ts'
import { idempotencyKeyText, type KnownKeys, lookUpKeys, rememberKey } from './idempotency.ts'
import { type BatchMode, contentLength } from './prepared.ts'
import { takeQuota } from './quota.ts'
import { isRefusal, type Refusal, refuseAt, refuseBanned, refuseField, UNKNOWN_TOPIC } from './refusal.ts'
import { type EmailDecision, type NewEmail, storeEmails } from './store-emails.ts'
import type { Accepted, IdempotencyToken, LeftOut, Sender } from './submission.ts'

export interface AcceptInput {
  sender: Sender
  now: number
  idempotency: IdempotencyToken | null
  emails: NewEmail[]
  /** Limit of the account's plan; null means unlimited. */
  quota: Quota | null
  linkTerms: LinkTermsIds
  /** Regions whose domains report delivery feedback. */
  feedbackRegions: string[]
  /** Null for a single email. */
  batch: {
    mode: BatchMode
    /** Positions of the emails in the request. */
    indexes: number[]
    leftOut: LeftOut[]
  } | null
}

const DOMAIN_COLUMNS = ['id', 'region', ...SENDING_COLUMNS, ...LINKING] as const
type KnownDomain = Pick<DomainRow, (typeof DOMAIN_COLUMNS)[number]>

/** Rows that were read for all requests of the group. */
interface Known {
  domains: ReadonlyMap<string, KnownDomain>
  suppressed: ReadonlyMap<string, SuppressionReason>
  consent: ConsentBook
  bans: readonly DomainBan[]
}

interface RequestDecision {
  taken: EmailDecision[]
  leftOut: LeftOut[]
}

export const acceptCommands = {
  accept: concurrent(
    batchCommand<AcceptInput, Accepted | Refusal>(acceptAll, { weigh: weightOf }),
    ({ sender: { accountId }, idempotency, emails, quota }) => [
      ...(idempotency
        ? [`idempotency key ${idempotencyKeyText({ sender: { accountId }, idempotency })}`]
        : []),
      ...(quota ? [`quota ${idKey(accountId)}`] : []),
      ...emails.flatMap(({ blobs }) => blobs.map(({ hash }) => `blob ${idKey(hash)}`)),
    ],
  ),
}

/** Characters that add the weight of one more short email. */
const CHARACTERS_PER_WEIGHT = 8_192

/** Estimates the work of a request for the writer, in short emails. */
export function weightOf({ emails }: AcceptInput): number {
  const characters = emails.reduce(
    (sum, { content }) => sum + ('contentId' in content ? 0 : contentLength(content)),
    0,
  )
  return emails.length + Math.floor(characters / CHARACTERS_PER_WEIGHT)
}

async function acceptAll(tx: Tx, inputs: readonly AcceptInput[]): Promise<(Accepted | Refusal)[]> {
  const [keys, domains, suppressed, consent, bans] = await Promise.all([
    lookUpKeys(tx.rows.find, inputs),
    lookUpDomains(tx, inputs),
    lookUpSuppressions(tx, inputs),
    openConsentBook(tx, inputs.flatMap(topicMailOf)),
    listDomainBans(tx.db),
  ])
  const known = { domains, suppressed, consent, bans }
  const outputs: (Accepted | Refusal)[] = []
  const accepted: EmailDecision[] = []
  for (const input of inputs) {
    const decision = keys.answerFor(input) ?? decide(input, known)
    const output = 'taken' in decision ? await take(tx, input, decision, keys) : decision
    if ('taken' in decision && !isRefusal(output)) accepted.push(...decision.taken)
    outputs.push(output)
  }
  await storeEmails(tx, accepted)
  return outputs
}

/** Decides which emails of a request are stored, or refuses the request. */
function decide(input: AcceptInput, known: Known): RequestDecision | Refusal {
  const { sender, now, emails, batch } = input
  const decision: RequestDecision = { taken: [], leftOut: [...(batch?.leftOut ?? [])] }
  for (const [i, email] of emails.entries()) {
    const domain = known.domains.get(domainKey(sender.accountId, email.fromDomain))
    const verified = domain !== undefined && acceptsMail(domain)
    const refusal =
      refuseSendTime(email.row.scheduledAt, now) ??
      (isBanned(known.bans, email.fromDomain) ? refuseBanned(email.fromDomain) : undefined) ??
      (verified ? undefined : refuseUnverified(email, domain)) ??
      refuseTopic(sender, email, known.consent)
    if (refusal) {
      if (!batch) return refusal
      if (batch.mode === 'strict') return refuseAt(batch.indexes[i]!, refusal)
      decision.leftOut.push({ index: batch.indexes[i]!, message: refusal.message })
      continue
    }
    const feedback = email.simulated || (domain && input.feedbackRegions.includes(domain.region)) ? 1 : 0
    decision.taken.push({
      email,
      domainId: verified ? domain.id : null,
      linkTermsId: linksOf(input, email, verified ? domain : UNTRACKED),
      feedback,
      suppressed: email.recipients.map(({ address }) => reasonAgainst(email, address, known)),
    })
  }
  return decision
}

/**
 * Finds the reason why an immediate email is not sent to a recipient. A scheduled email is checked when it is
 * released.
 */
function reasonAgainst(
  { row: { accountId, scheduledAt, topicId } }: NewEmail,
  address: string,
  { suppressed, consent }: Known,
): Objected | null {
  if (scheduledAt !== null) return null
  const reason = suppressed.get(suppressionKey(accountId, address))
  if (reason !== undefined) return onSuppressionList(reason)
  const objection = topicId && consent.objectionOf({ accountId, topicId }, address)
  return objection ? unsubscribed(objection) : null
}

function refuseTopic(
  { accountId }: Sender,
  { row: { topicId } }: NewEmail,
  consent: ConsentBook,
): Refusal | undefined {
  if (topicId === null || consent.knows({ accountId, topicId })) return undefined
  return UNKNOWN_TOPIC
}

const UNTRACKED = { openTracking: 0, clickTracking: 0, trackingTerms: null } as const

/** A raw message is sent unchanged, so its links are not rewritten. */
function linksOf(
  { linkTerms }: AcceptInput,
  { row: { raw, broadcastId, topicId } }: NewEmail,
  domain: LinkingDomain,
): number | null {
  return raw === null ? linkTermsFor(linkTerms, domain, broadcastId !== null || topicId !== null) : null
}

/** The quota is taken last, so that refused emails do not count. */
async function take(
  tx: Tx,
  input: AcceptInput,
  { taken, leftOut }: RequestDecision,
  keys: KnownKeys,
): Promise<Accepted | Refusal> {
  const recipientCount = taken.reduce((sum, { email }) => sum + email.recipients.length, 0)
  const overQuota = await takeQuota(tx, input, recipientCount)
  if (overQuota) return overQuota
  const ids = taken.map(({ email }) => email.row.id)
  const accepted = { ids, leftOut: leftOut.sort((a, b) => a.index - b.index) }
  if (ids.length > 0) await rememberKey(tx, keys, input, accepted)
  return accepted
}

/** Mail to the simulator needs no verified domain, but a notification to an address elsewhere does. */
function refuseUnverified(
  { simulated, owesNotices, fromDomain }: NewEmail,
  domain: KnownDomain | undefined,
): Refusal | undefined {
  if (!simulated) return notVerified(fromDomain, domain)
  if (!owesNotices) return undefined
  const message =
    `NOTIFY is not possible from ${fromDomain}, which is no verified domain: the notification could not be sent. ` +
    'Leave NOTIFY out, or verify the domain.'
  return refuseField('domain_not_verified', 'from', message)
}

function notVerified(name: string, domain: KnownDomain | undefined): Refusal {
  return refuseField('domain_not_verified', 'from', whyNotSent(name, domain))
}

async function lookUpDomains(tx: Tx, inputs: readonly AcceptInput[]): Promise<Map<string, KnownDomain>> {
  const wanted = new Map<string, { accountId: Id; name: string }>()
  for (const { sender, emails } of inputs)
    for (const { fromDomain: name } of emails)
      wanted.set(domainKey(sender.accountId, name), { accountId: sender.accountId, name })
  const rows = await tx.rows.find('domains', [...wanted.values()], DOMAIN_COLUMNS)
  return new Map([...wanted.keys()].flatMap((key, i) => (rows[i] ? [[key, rows[i]] as const] : [])))
}

async function lookUpSuppressions(
  tx: Tx,
  inputs: readonly AcceptInput[],
): Promise<Map<string, SuppressionReason>> {
  const wanted = new Map<string, { accountId: Id; email: string }>()
  for (const { sender, emails } of inputs)
    for (const { address } of emails.flatMap(({ recipients }) => recipients))
      wanted.set(suppressionKey(sender.accountId, address), {
        accountId: sender.accountId,
        email: foldAddress(address),
      })
  const rows = await tx.rows.find('suppressions', [...wanted.values()], ['reason'])
  return new Map([...wanted.keys()].flatMap((key, i) => (rows[i] ? [[key, rows[i].reason]] : [])))
}

function topicMailOf({ sender: { accountId }, emails }: AcceptInput): TopicMail[] {
  return emails.flatMap(({ row: { topicId, scheduledAt }, recipients }) => {
    if (topicId === null) return []
    return [
      { accountId, topicId, addresses: scheduledAt === null ? recipients.map(({ address }) => address) : [] },
    ]
  })
}

function domainKey(accountId: Id, name: string): string {
  return idKey(accountId) + name
}

function suppressionKey(accountId: Id, address: string): string {
  return idKey(accountId) + foldAddress(address)
}
