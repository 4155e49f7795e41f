/**
 * Applies the routes of an account to a received message: finds the route of each recipient, and forwards the
 * message. A forward is an email like any other, which is accepted before the message is listed. When the
 * service ends between the two, the message is routed again, and the idempotency key of the forward keeps it
 * from being sent twice. In: stored messages, from `inbound-processor.ts`. Out: decisions, which
 * `list-commands.ts` records.
 */
import { hash } from 'node:crypto'
import { FairSemaphore } from '../../lib/fair-semaphore.ts'
import { idKey, wireId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { foldAddress, parseAddress } from '../../protocols/smtp/address.ts'
import type { UnlistedInbound } from '../../resources/emails/inbound-rows.ts'
import type { BlobFiles } from '../../store/blobs/blobs.ts'
import { StorageUnavailable } from '../../store/model/command.ts'
import type { Db } from '../../store/model/schema.ts'
import type { Accept } from '../accept/accept.ts'
import { MESSAGE_BYTES_MAX } from '../accept/message-limits.ts'
import type { Preparation } from '../accept/prepare.ts'
import { isRefusal, type Refusal } from '../accept/refusal.ts'
import type { AccountRoutes } from './account-routes.ts'
import type { ReadMail } from './mail-reader.ts'
import type { Verdicts } from './message-verdicts.ts'
import { forwardedMail, forwardFault } from './route-forward.ts'
import { routeOfAddress } from './route-pattern.ts'
import type { Forwarded, MatchedRoute, RouteDecision, Routed } from './routed.ts'

/** The routes of a message. */
export interface MatchedRoutes {
  /** Recipients that a route matches, each with the first such route. */
  matches: readonly MatchedRoute[]
  /** Recipients that no route matches. */
  othersCount: number
}

export interface MailRouting {
  /** Finds the route of each recipient; null if none matches. @throws if the store is unavailable */
  match(row: Pick<UnlistedInbound, 'accountId' | 'recipients'>): Promise<MatchedRoutes | null>
  /** Forwards the message as its routes say. @throws StorageUnavailable to be called again later */
  apply(
    row: UnlistedInbound,
    matched: MatchedRoutes,
    found: { mail: ReadMail | null; verdicts: Verdicts },
  ): Promise<Routed>
}

interface RoutingOptions {
  routes: Pick<AccountRoutes, 'of'>
  accept: Pick<Accept, 'send'>
  preparation: Pick<Preparation, 'email'>
  db: Db
  blobs: Pick<BlobFiles, 'read'>
  mailHost: string
  log: Log
}

/** Messages that are in memory at the same time while they are forwarded, in total and of one account. */
const CONCURRENT_MAX = 4
const CONCURRENT_PER_ACCOUNT_MAX = 2
/** Refusals that pass. */
const TEMPORARY: ReadonlySet<Refusal['refused']> = new Set(['busy', 'idempotency_running', 'service_closed'])

export function createRouting(options: RoutingOptions): MailRouting {
  const slots = new FairSemaphore(CONCURRENT_MAX, CONCURRENT_PER_ACCOUNT_MAX)
  return {
    async match({ accountId, recipients }) {
      const routes = await options.routes.of(accountId)
      if (routes.length === 0) return null
      const addresses = JSON.parse(recipients) as string[]
      const matches = addresses.flatMap(recipient => {
        const route = routeOfAddress(routes, recipient)
        return route ? [{ recipient, route }] : []
      })
      return matches.length > 0 ? { matches, othersCount: addresses.length - matches.length } : null
    },
    async apply(row, { matches, othersCount }, found) {
      const decisions: RouteDecision[] = []
      const sent = new Map<string, Forwarded>()
      for (const { recipient, route } of matches) {
        const { forwardTo } = route
        if (forwardTo === null) {
          decisions.push({ recipient, route, forwarded: null })
          continue
        }
        const key = foldAddress(forwardTo)
        const forwarded =
          sent.get(key) ??
          (await slots.run(idKey(row.accountId), () =>
            forward(options, row, found, { recipient, forwardTo }),
          ))
        sent.set(key, forwarded)
        decisions.push({ recipient, route, forwarded })
      }
      const isForSubscribers = othersCount > 0 || matches.some(({ route }) => route.action === 'forward')
      return { decisions, isForSubscribers }
    },
  }
}

/** Whether no recipient gets the message. */
export function isDropped({ matches, othersCount }: MatchedRoutes): boolean {
  return othersCount === 0 && matches.every(({ route }) => route.action === 'drop')
}

/** @throws StorageUnavailable */
async function forward(
  options: RoutingOptions,
  row: UnlistedInbound,
  found: { mail: ReadMail | null; verdicts: Verdicts },
  way: { recipient: string; forwardTo: string },
): Promise<Forwarded> {
  try {
    return await sendOn(options, row, found, way)
  } catch (error) {
    if (error instanceof StorageUnavailable) throw error
    options.log.error(
      { event: 'inbound_not_forwarded', err: error },
      'A received message could not be forwarded as its route says; it stays in the inbox',
    )
    return { fault: 'An internal error occurred. The operator finds it in the log of the service.' }
  }
}

async function sendOn(
  { accept, preparation, db, blobs, mailHost }: RoutingOptions,
  row: UnlistedInbound,
  found: { mail: ReadMail | null; verdicts: Verdicts },
  { recipient: address, forwardTo }: { recipient: string; forwardTo: string },
): Promise<Forwarded> {
  const { accountId, id, rawHash, sizeBytes } = row
  const [recipient, to] = [parseAddress(address), parseAddress(forwardTo)]
  if ('fault' in recipient) return { fault: `The recipient ${recipient.fault}.` }
  if ('fault' in to) return { fault: `The address ${to.fault}.` }
  if (sizeBytes > MESSAGE_BYTES_MAX)
    return { fault: `The message is larger than ${MESSAGE_BYTES_MAX / 1024 / 1024} MB.` }
  const mail = { row, ...found }
  const fault = forwardFault(mail, to)
  if (fault !== undefined) return { fault }
  const submission = forwardedMail(mail, await blobs.read(db, rawHash), { recipient, to, mailHost })
  if ('fault' in submission) return submission
  const prepared = await preparation.email(accountId, submission)
  const key = foldAddress(forwardTo)
  const endpoint = `route ${wireId('inb', id)}`
  const accepted = await accept.send(
    { accountId, apiKeyId: null, domain: null, isReceived: true },
    prepared,
    { endpoint, key, bodyHash: hash('sha256', key, 'buffer') },
  )
  if (!isRefusal(accepted)) return { emailId: accepted.ids[0]! }
  if (TEMPORARY.has(accepted.refused)) throw new StorageUnavailable(accepted.message)
  return { fault: accepted.message }
}
