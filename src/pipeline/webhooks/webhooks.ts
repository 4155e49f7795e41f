/**
 * Manages the webhooks of an account, and lists, tests and replays their deliveries. Called by the HTTP API.
 */
import { isIP } from 'node:net'
import type { Clock } from '../../lib/clock.ts'
import type { Id, IdSource } from '../../lib/ids.ts'
import type { SecretKeys } from '../../lib/secret-keys.ts'
import { isGlobalUnicast, isLoopback } from '../../protocols/dns/address-safety.ts'
import { readTarget } from '../../protocols/http-client/target.ts'
import { EVENT_TYPES, type EventType } from '../../resources/events/types.ts'
import type { Run } from '../../store/command.ts'
import type { FoundPage, ListPage } from '../../store/list-page.ts'
import type { Db, WebhookDeliveryRow, WebhookRow } from '../../store/schema.ts'
import type { RequestedDelivery, webhookCommands } from './commands.ts'
import { sampleBody } from './sample.ts'
import { newSigningSecret, sealSecret } from './signature.ts'
import { findWebhook, listWebhookDeliveries, listWebhooks } from './webhook-rows.ts'

export interface NewWebhook {
  url: string
  events: readonly EventType[]
  /** Whether signatures of Standard Webhooks are added. */
  isStandard: boolean
}

/** Absent fields keep their values. */
export interface WebhookChange {
  url?: string | undefined
  events?: readonly EventType[] | undefined
  enabled?: boolean | undefined
}

interface WithSecret {
  webhook: WebhookRow
  /** The secret is returned only here. */
  signingSecret: string
}

export interface Webhooks {
  /** Fault of the URL, as the end of a sentence that begins with "the URL"; undefined when it is valid. */
  faultIn(url: string): string | undefined
  create(accountId: Id, webhook: NewWebhook): Promise<WithSecret | 'too-many'>
  list(accountId: Id, page: ListPage): Promise<FoundPage<WebhookRow>>
  /** This and the following results are undefined when the account has no such webhook. */
  find(accountId: Id, id: Id): Promise<WebhookRow | undefined>
  change(accountId: Id, id: Id, change: WebhookChange): Promise<WebhookRow | undefined>
  rotateSecret(accountId: Id, id: Id): Promise<WithSecret | undefined>
  /** Newest first. */
  deliveries(accountId: Id, id: Id): Promise<WebhookDeliveryRow[] | undefined>
  /** Returns false when the account has no such webhook. */
  delete(accountId: Id, id: Id): Promise<boolean>
  /** @param type is the event type; by default the first type that the webhook subscribes to */
  test(accountId: Id, id: Id, type: EventType | undefined): Promise<RequestedDelivery>
  replay(accountId: Id, id: Id, deliveryId: Id): Promise<RequestedDelivery>
}

interface WebhooksOptions {
  db: Db
  run: Run<typeof webhookCommands>
  clock: Clock
  newId: IdSource
  secrets: SecretKeys
  /** Allows `http://` to 127.0.0.1 and [::1], for tests. */
  allowInsecureLoopback: boolean
  /** Allows `https://` to this host, for tests. */
  allowLoopback: boolean
}

/** Time during which the former secret signs, too. */
const ROTATION_MS = 24 * 3_600_000

export function createWebhooks(options: WebhooksOptions): Webhooks {
  const { db, run, clock, newId, secrets } = options
  const find: Webhooks['find'] = (accountId, id) => findWebhook(db, accountId, id)
  return {
    faultIn: url => faultIn(url, options),
    list: (accountId, page) => listWebhooks(db, accountId, page),
    find,
    async create(accountId, { url, events, isStandard }) {
      const now = clock.now()
      const id = newId(now)
      const signingSecret = newSigningSecret()
      const webhook: WebhookRow = {
        id,
        accountId,
        url,
        events: JSON.stringify(events),
        createdAt: now,
        secret: sealSecret(secrets, id, signingSecret),
        formerSecret: null,
        formerUntil: null,
        standard: isStandard ? 1 : 0,
        enabled: 1,
        noticeDue: 0,
        failingSince: null,
        disabledAt: null,
        disabledReason: null,
      }
      const result = await run('createWebhook', webhook)
      return result === 'created' ? { webhook, signingSecret } : result
    },
    change(accountId, id, { url, events, enabled }) {
      const changes = {
        ...(url !== undefined && { url }),
        ...(events && { events: JSON.stringify(events) }),
        ...(enabled !== undefined && { enabled: enabled ? (1 as const) : (0 as const) }),
      }
      return run('changeWebhook', { accountId, id, changes, at: clock.now() })
    },
    async rotateSecret(accountId, id) {
      const signingSecret = newSigningSecret()
      const secret = sealSecret(secrets, id, signingSecret)
      const formerUntil = clock.now() + ROTATION_MS
      const webhook = await run('rotateWebhookSecret', { accountId, id, secret, formerUntil })
      return webhook && { webhook, signingSecret }
    },
    async deliveries(accountId, id) {
      const webhook = await find(accountId, id)
      return webhook && listWebhookDeliveries(db, accountId, id)
    },
    delete: (accountId, id) => run('deleteWebhook', { accountId, id }),
    async test(accountId, id, wanted) {
      const webhook = await find(accountId, id)
      if (!webhook) return 'no-webhook'
      const at = clock.now()
      const eventId = newId(at)
      const type = wanted ?? eventsOf(webhook)[0]!
      const body = sampleBody({ id: eventId, subjectId: newId(at), type, at })
      return run('testWebhook', { accountId, id, type, body, eventId, at })
    },
    replay: (accountId, id, deliveryId) =>
      run('replayWebhookDelivery', { accountId, id, deliveryId, at: clock.now() }),
  }
}

/** Returns the event types that the webhook subscribes to. */
export function eventsOf({ events }: Pick<WebhookRow, 'events'>): EventType[] {
  const types = new Set<string>(JSON.parse(events) as string[])
  return EVENT_TYPES.filter(type => types.has(type))
}

/** Checks literal addresses; a host name is checked at each lookup. */
function faultIn(
  url: string,
  { allowInsecureLoopback, allowLoopback }: Pick<WebhooksOptions, 'allowInsecureLoopback' | 'allowLoopback'>,
): string | undefined {
  const target = readTarget(url, { allowInsecureLoopback })
  if ('fault' in target) return target.fault
  const { host, isSecure } = target
  const mayBeLoopback = allowLoopback || !isSecure
  const isReachable = isIP(host) === 0 || isGlobalUnicast(host) || (mayBeLoopback && isLoopback(host))
  return isReachable ? undefined : 'must not lead to an address that is not public'
}
