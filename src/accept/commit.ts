/**
 * The command that stores what was submitted: idempotency, sender domain, suppression and quota are decided inside the
 * transaction that writes emails and deliveries, so that no race gets past them.
 */
import type { Quota } from '../accounts/plans.ts'
import { maySend } from '../domains/status.ts'
import { countNewEmail, type NewEvent, recordEvents } from '../events/record.ts'
import { scheduledEvent } from '../events/scheduled.ts'
import { type Id, idKey } from '../lib/ids.ts'
import { foldAddress } from '../smtp/address.ts'
import { referBlobs, type StagedBlob } from '../store/blobs.ts'
import { batchCommand, laneKey, type Tx } from '../store/command.ts'
import { type Content, encodeContent } from '../store/contents.ts'
import type { DueLane } from '../store/lanes.ts'
import {
  DELIVERY_STATE,
  type DeliveryRow,
  type DomainRow,
  type EmailRow,
  type EmailStatus,
  type Flag,
} from '../store/schema.ts'
import { type KnownKeys, lookUpKeys, rememberKey } from './idempotency.ts'
import { takeQuota } from './quota.ts'
import type { Recipient } from './recipients.ts'
import type { Refusal } from './refusal.ts'
import { refuseSendTime } from './send-time.ts'
import type { IdempotencyToken, Sender } from './submission.ts'

/** An email ready to be stored but for what the transaction decides. */
export interface NewEmail {
  row: Omit<
    EmailRow,
    'domainId' | 'contentId' | 'status' | 'feedback' | 'error' | 'sentAt' | 'lastEventAt' | 'endedAt'
  >
  fromDomain: string
  content: Content
  blobs: StagedBlob[]
  recipients: Recipient[]
  /** All recipients are at the simulator: no verified domain is needed. */
  simulated: boolean
  class: number
  expiresAt: number
}

export interface AcceptInput {
  sender: Sender
  now: number
  idempotency: IdempotencyToken | null
  emails: NewEmail[]
  /** What is answered unless the request has been answered before. */
  refusal?: Refusal
  /** What the account's plan lets it send; null is any number. */
  quota: Quota | null
  /** Regions whose domains get delivery feedback. */
  feedbackRegions: string[]
}

export interface Accepted {
  ids: Id[]
}

type KnownDomain = Pick<DomainRow, 'id' | 'status' | 'region'>

/** An email with everything decided. */
interface Decided {
  email: NewEmail
  domainId: Id | null
  feedback: Flag
  /** By ordinal; of a scheduled email nobody is, yet: who is then is found out at its time. */
  suppressed: boolean[]
}

export const acceptCommands = {
  accept: batchCommand<AcceptInput, Accepted | Refusal>(async (tx, inputs) => {
    const keys = await lookUpKeys(tx, inputs)
    const domains = await lookUpDomains(tx, inputs)
    const suppressed = await lookUpSuppressions(tx, inputs)
    const outputs: (Accepted | Refusal)[] = []
    const accepted: Decided[] = []
    for (const input of inputs) {
      const decision = await withinQuota(tx, input, decide(input, keys, domains, suppressed))
      if (!Array.isArray(decision)) {
        outputs.push(decision)
        continue
      }
      const ids = decision.map(({ email }) => email.row.id)
      accepted.push(...decision)
      await rememberKey(tx, keys, input, ids)
      outputs.push({ ids })
    }
    await store(tx, accepted)
    return outputs
  }),
}

/** The emails to store; or what was answered before; or why not. */
function decide(
  input: AcceptInput,
  keys: KnownKeys,
  domains: ReadonlyMap<string, KnownDomain>,
  suppressed: ReadonlySet<string>,
): Decided[] | Accepted | Refusal {
  const former = keys.answerFor(input)
  if (former) return former
  if (input.refusal) return input.refusal
  const decided: Decided[] = []
  for (const email of input.emails) {
    const untimely = refuseSendTime(email.row.scheduledAt, input.now)
    if (untimely) return untimely
    const domain = domains.get(domainKey(input.sender.accountId, email.fromDomain))
    const verified = domain !== undefined && maySend(domain.status)
    if (!verified && !email.simulated) return notVerified(email.fromDomain, domain !== undefined)
    const feedback = email.simulated || (domain && input.feedbackRegions.includes(domain.region)) ? 1 : 0
    decided.push({
      email,
      domainId: verified ? domain.id : null,
      feedback,
      suppressed: email.recipients.map(
        ({ address }) =>
          email.row.scheduledAt === null && suppressed.has(suppressionKey(input.sender.accountId, address)),
      ),
    })
  }
  return decided
}

/** Last of all: what is refused takes nothing from the quota. */
async function withinQuota<T>(
  tx: Tx,
  input: AcceptInput,
  decision: Decided[] | T,
): Promise<Decided[] | T | Refusal> {
  if (!Array.isArray(decision)) return decision
  const recipientCount = decision.reduce((sum, { email }) => sum + email.recipients.length, 0)
  return (await takeQuota(tx, input, recipientCount)) ?? decision
}

function notVerified(name: string, registered: boolean): Refusal {
  const message = registered
    ? `The ${name} domain is not verified. Check its DNS records and verify it.`
    : `The ${name} domain is not registered. Add it and verify it before sending from it.`
  return { refused: 'domain_not_verified', message }
}

async function store(tx: Tx, accepted: readonly Decided[]): Promise<void> {
  if (accepted.length === 0) return
  const firstContentId = await tx.rows.reserve('contents', accepted.length)
  await tx.rows.insert(
    'contents',
    accepted.map(({ email }, i) => ({ id: firstContentId + i, ...encodeContent(email.content), refs: 1 })),
  )
  await tx.rows.insert(
    'emails',
    accepted.map((decided, i) => emailRow(decided, firstContentId + i)),
  )
  await tx.segments.arrived(accepted.map(({ email }) => email.row))
  await tx.rows.insert('deliveries', accepted.flatMap(deliveryRows))
  for (const decided of accepted) {
    const { email } = decided
    if (email.blobs.length > 0) await referBlobs(tx, email.blobs, email.row.createdAt)
    countEmail(tx, decided)
    if (email.row.scheduledAt === null) keepAtHand(tx, decided)
  }
  announceDue(tx, accepted)
  announceScheduled(tx, accepted)
  await recordEvents(tx, accepted.flatMap(firstEvents))
}

function emailRow(decided: Decided, contentId: number): EmailRow {
  const { email, domainId, feedback, suppressed } = decided
  const { createdAt, scheduledAt } = email.row
  const status = statusOf(decided)
  return {
    ...email.row,
    domainId,
    contentId,
    feedback,
    status,
    error: status === 'suppressed' ? 'All recipients are on the suppression list.' : null,
    sentAt: null,
    lastEventAt: scheduledAt !== null || suppressed.some(Boolean) ? createdAt : null,
    endedAt: status === 'suppressed' ? createdAt : null,
  }
}

function statusOf({ email, suppressed }: Decided): EmailStatus {
  if (email.row.scheduledAt !== null) return 'scheduled'
  return suppressed.every(Boolean) ? 'suppressed' : 'queued'
}

function deliveryRows({ email, suppressed }: Decided): Partial<DeliveryRow>[] {
  const { accountId, id: emailId, createdAt, scheduledAt } = email.row
  const waiting = scheduledAt === null ? DELIVERY_STATE.waiting : DELIVERY_STATE.scheduled
  return email.recipients.map(({ address, domain, kind }, ordinal) => ({
    emailId,
    ordinal,
    accountId,
    address,
    domain,
    kind,
    class: email.class,
    state: suppressed[ordinal] ? DELIVERY_STATE.done : waiting,
    status: suppressed[ordinal] ? 'suppressed' : 'queued',
    attempts: 0,
    nextAt: scheduledAt ?? createdAt,
    expiresAt: email.expiresAt,
  }))
}

/** For the claim that is about to come. */
function keepAtHand(tx: Tx, { email, domainId, suppressed }: Decided) {
  const {
    id,
    sender,
    toList,
    ccList,
    replyToList,
    subject,
    headers,
    attachments,
    messageId,
    recipientCount,
  } = email.row
  const { createdAt, scheduledAt } = email.row
  if (suppressed.every(Boolean)) return
  const mailboxes = { sender, toList, ccList, replyToList }
  const rest = { subject, headers, attachments, messageId, recipientCount, createdAt, scheduledAt }
  tx.recent.put(id, { domainId, ...mailboxes, ...rest, content: email.content }, createdAt)
}

function countEmail(tx: Tx, decided: Decided) {
  countNewEmail(tx, decided.email.row.accountId, statusOf(decided))
}

/** Each lane once, however many emails go to it. */
function announceDue(tx: Tx, accepted: readonly Decided[]) {
  const lanes = new Map<string, DueLane>()
  for (const { email, suppressed } of accepted) {
    const { accountId, createdAt: at, scheduledAt } = email.row
    if (scheduledAt !== null) continue
    for (const [i, { domain }] of email.recipients.entries()) {
      const lane = { domain, class: email.class, accountId, at }
      const key = laneKey(lane)
      if (!suppressed[i] && !lanes.has(key)) lanes.set(key, lane)
    }
  }
  for (const lane of lanes.values()) tx.announce('due', lane)
}

/** The earliest time alone: from then on the releaser sees for itself. */
function announceScheduled(tx: Tx, accepted: readonly Decided[]) {
  const times = accepted.flatMap(({ email }) => email.row.scheduledAt ?? [])
  if (times.length > 0)
    tx.announce(
      'scheduled',
      times.reduce((first, at) => Math.min(first, at)),
    )
}

function firstEvents({ email, suppressed }: Decided): NewEvent[] {
  const { accountId, id: subjectId, createdAt: at, scheduledAt } = email.row
  if (scheduledAt !== null) return [scheduledEvent(accountId, subjectId, scheduledAt, at)]
  return email.recipients
    .filter((_, i) => suppressed[i])
    .map(({ address: recipient }) => ({
      accountId,
      subjectId,
      type: 'email.suppressed' as const,
      recipient,
      data: { suppressed: { message: 'The address is on the suppression list.', type: 'Suppressed' } },
      at,
    }))
}

async function lookUpDomains(tx: Tx, inputs: readonly AcceptInput[]): Promise<Map<string, KnownDomain>> {
  const wanted = new Map<string, { accountId: Id; name: string }>()
  for (const { sender, emails } of inputs)
    for (const { fromDomain: name } of emails)
      wanted.set(domainKey(sender.accountId, name), { accountId: sender.accountId, name })
  const rows = await tx.rows.find('domains', [...wanted.values()], ['id', 'status', 'region'])
  return new Map([...wanted.keys()].flatMap((key, i) => (rows[i] ? [[key, rows[i]] as const] : [])))
}

async function lookUpSuppressions(tx: Tx, inputs: readonly AcceptInput[]): Promise<Set<string>> {
  const wanted = new Map<string, { accountId: Id; email: string }>()
  for (const { sender, emails } of inputs)
    for (const { address } of emails.flatMap(({ recipients }) => recipients))
      wanted.set(suppressionKey(sender.accountId, address), {
        accountId: sender.accountId,
        email: foldAddress(address),
      })
  const rows = await tx.rows.find('suppressions', [...wanted.values()], ['id'])
  return new Set([...wanted.keys()].filter((_, i) => rows[i] !== undefined))
}

function domainKey(accountId: Id, name: string): string {
  return idKey(accountId) + name
}

function suppressionKey(accountId: Id, address: string): string {
  return idKey(accountId) + foldAddress(address)
}
