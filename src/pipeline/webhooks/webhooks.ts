/** Webhooks of an account: made, changed, tried out, and what they were told. */
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
import type { AskedDelivery, webhookCommands } from './commands.ts'
import { sampleBody } from './sample.ts'
import { newSigningSecret, sealSecret } from './signature.ts'
import { findWebhook, listWebhookDeliveries, listWebhooks } from './webhook-rows.ts'

export interface NewWebhook {
  url: string
  events: readonly EventType[]
  /** Also signs as Standard Webhooks do. */
  isStandard: boolean
}

/** Those absent stay as they are. */
export interface WebhookChange {
  url?: string | undefined
  events?: readonly EventType[] | undefined
  enabled?: boolean | undefined
}

interface WithSecret {
  webhook: WebhookRow
  /** The only time that it is told. */
  signingSecret: string
}

export interface Webhooks {
  /** What is wrong with a URL, completing "the URL …"; undefined when a webhook may have it. */
  faultIn(url: string): string | undefined
  create(accountId: Id, webhook: NewWebhook): Promise<WithSecret | 'too-many'>
  list(accountId: Id, page: ListPage): Promise<FoundPage<WebhookRow>>
  /** This and what follows: undefined when the account has no such webhook. */
  find(accountId: Id, id: Id): Promise<WebhookRow | undefined>
  change(accountId: Id, id: Id, change: WebhookChange): Promise<WebhookRow | undefined>
  rotateSecret(accountId: Id, id: Id): Promise<WithSecret | undefined>
  /** Newest first. */
  deliveries(accountId: Id, id: Id): Promise<WebhookDeliveryRow[] | undefined>
  /** False when the account has no such webhook. */
  delete(accountId: Id, id: Id): Promise<boolean>
  /** @param type of the event; when it is not given, the first that the webhook is told of */
  test(accountId: Id, id: Id, type: EventType | undefined): Promise<AskedDelivery>
  replay(accountId: Id, id: Id, deliveryId: Id): Promise<AskedDelivery>
}

interface WebhooksOptions {
  db: Db
  run: Run<typeof webhookCommands>
  clock: Clock
  newId: IdSource
  secrets: SecretKeys
  /** Lets `http://` reach 127.0.0.1 and [::1], for tests. */
  allowInsecureLoopback: boolean
  /** Lets https reach this host itself, for tests. */
  allowLoopback: boolean
}

/** So long the former secret signs, too. */
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
        ...{ id, accountId, url, events: JSON.stringify(events), createdAt: now },
        ...{ secret: sealSecret(secrets, id, signingSecret), formerSecret: null, formerUntil: null },
        ...{ standard: isStandard ? 1 : 0, enabled: 1, noticeDue: 0 },
        ...{ failingSince: null, disabledAt: null, disabledReason: null },
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

/** The types that a webhook is told of. */
export function eventsOf({ events }: Pick<WebhookRow, 'events'>): EventType[] {
  const types = new Set<string>(JSON.parse(events) as string[])
  return EVENT_TYPES.filter(type => types.has(type))
}

/** Names are judged when they are looked up, each time; an address can be judged now. */
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
