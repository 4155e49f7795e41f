/**
 * Manages the webhooks of an account, and lists, tests and replays their deliveries. Called by the HTTP API.
 */
import { isIP } from 'node:net'
import { type Id, type IdSource, idText } from '../../lib/ids.ts'
import type { SecretKeys } from '../../lib/secret-keys.ts'
import { isGlobalUnicast, isLoopback } from '../../protocols/dns/address-safety.ts'
import { readTarget } from '../../protocols/http-client/target.ts'
import type { SdkDialect } from '../../resources/compat/typed-clients.ts'
import { deliveryRow } from '../../resources/events/outbox.ts'
import {
  EVENT_TYPES,
  type EventType,
  SUBSCRIBABLE_TYPES,
  type SubscribableType,
} from '../../resources/events/types.ts'
import type { Run } from '../../store/model/command.ts'
import type { Db, WebhookRow } from '../../store/model/schema.ts'
import type { ListPage } from '../../store/reading/list-page.ts'
import { attemptWebhook, type WebhookAttemptOptions } from './attempt.ts'
import type { RequestedDelivery, webhookCommands } from './commands.ts'
import type { webhookDispatchCommands } from './dispatch-commands.ts'
import { sampleBody } from './sample.ts'
import { newSigningSecret, type Signing, sealSecret, signingOf } from './signature.ts'
import { findWebhook, listWebhookDeliveries, listWebhooks } from './webhook-rows.ts'

export interface NewWebhook {
  url: string
  events: readonly SubscribableType[]
  /** False creates a webhook that is disabled. */
  isEnabled?: boolean | undefined
  /** Whether signatures of Standard Webhooks are added; by default as the operator has set it. */
  isStandard?: boolean | undefined
  /** The SDK in whose words payloads are written; null or absent for the service's own words. */
  dialect?: SdkDialect | null
  /** Domains to whose events the webhook is limited; null or absent for all events. */
  domainIds?: readonly Id[] | null | undefined
}

/** Absent fields keep their values. */
export interface WebhookChange {
  url?: string | undefined
  events?: readonly SubscribableType[] | undefined
  enabled?: boolean | undefined
  isStandard?: boolean | undefined
  /** Null removes the limit. */
  domainIds?: readonly Id[] | null | undefined
}

interface WebhooksOptions extends WebhookAttemptOptions {
  db: Db
  run: Run<typeof webhookCommands & Pick<typeof webhookDispatchCommands, 'storeWebhookTest'>>
  newId: IdSource
  secrets: SecretKeys
  /** Allows `http://` to 127.0.0.1 and [::1], for tests. */
  allowInsecureLoopback: boolean
  /** Allows `https://` to this host, for tests. */
  allowLoopback: boolean
  /** Whether webhooks get signatures of Standard Webhooks unless their creator decides. */
  isStandardByDefault: boolean
}

/** Time during which the former secret signs, too. */
const ROTATION_MS = 24 * 3_600_000

export type Webhooks = ReturnType<typeof createWebhooks>

/** Results of the methods are undefined when the account has no such webhook. */
export function createWebhooks(options: WebhooksOptions) {
  const { db, run, clock, newId, secrets, isStandardByDefault } = options
  const find = (accountId: Id, id: Id) => findWebhook(db, accountId, id)
  return {
    /** Fault of the URL, as the end of a sentence that begins with "the URL"; undefined when it is valid. */
    faultIn: (url: string) => faultIn(url, options),
    list: (accountId: Id, page: ListPage) => listWebhooks(db, accountId, page),
    find,
    async create(accountId: Id, wanted: NewWebhook) {
      const { url, events, isEnabled = true, isStandard = isStandardByDefault } = wanted
      const { dialect = null, domainIds = null } = wanted
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
        earlierSecret: null,
        earlierUntil: null,
        domainIds: storedDomainIds(domainIds),
        standard: isStandard ? 1 : 0,
        dialect,
        enabled: isEnabled ? 1 : 0,
        noticeDue: 0,
        failingSince: null,
        disabledAt: isEnabled ? null : now,
        disabledReason: isEnabled ? null : ('user' as const),
      }
      const result = await run('createWebhook', webhook)
      return result === 'created' ? { webhook, signingSecret } : result
    },
    change: (accountId: Id, id: Id, change: WebhookChange) =>
      run('changeWebhook', { accountId, id, changes: columnsOf(change), at: clock.now() }),
    async rotateSecret(accountId: Id, id: Id) {
      const signingSecret = newSigningSecret()
      const secret = sealSecret(secrets, id, signingSecret)
      const at = clock.now()
      const former = { formerUntil: at + ROTATION_MS, at }
      const rotated = await run('rotateWebhookSecret', { accountId, id, secret, ...former })
      return rotated && { ...rotated, signingSecret }
    },
    /** Newest first. */
    async deliveries(accountId: Id, id: Id) {
      const webhook = await find(accountId, id)
      return webhook && listWebhookDeliveries(db, webhook)
    },
    /** Returns the secrets that sign now. */
    async signing(accountId: Id, id: Id): Promise<Signing | undefined> {
      const webhook = await find(accountId, id)
      return webhook && signingOf(secrets, webhook, clock.now())
    },
    /** Resolves to false when the account has no such webhook. */
    delete: (accountId: Id, id: Id) => run('deleteWebhook', { accountId, id }),
    test: (accountId: Id, id: Id, wanted: EventType | undefined) =>
      sendTest(options, { accountId, id, wanted }),
    replay: (accountId: Id, id: Id, deliveryId: Id) =>
      run('replayWebhookDelivery', { accountId, id, deliveryId, at: clock.now() }),
  }
}

/**
 * Sends a test event at once, whatever waits for the endpoint, and returns it with the response. `wanted` is
 * the event type; by default the first type that occurs and the webhook subscribes to.
 */
async function sendTest(
  options: WebhooksOptions,
  { accountId, id, wanted }: { accountId: Id; id: Id; wanted: EventType | undefined },
): Promise<RequestedDelivery> {
  const { db, run, clock, newId, secrets } = options
  const webhook = await findWebhook(db, accountId, id)
  if (!webhook) return 'no-webhook'
  if (webhook.enabled === 0) return 'disabled'
  const at = clock.now()
  const eventId = newId(at)
  const type = wanted ?? EVENT_TYPES.find(one => eventsOf(webhook).includes(one)) ?? EVENT_TYPES[0]
  const body = sampleBody({ id: eventId, subjectId: newId(at), type, at })
  const row = deliveryRow({ webhookId: id, id: newId(at), accountId, body, at }, { id: eventId, type })
  const delivery = { ...row, isTest: 1 as const }
  const { url, dialect } = webhook
  const target = { webhookId: id, url, dialect, signing: signingOf(secrets, webhook, at) }
  const attempt = await attemptWebhook(options, target, { ...delivery, attempt: 1, dueAt: at })
  return run('storeWebhookTest', { delivery, attempt })
}

function columnsOf({ url, events, enabled, isStandard, domainIds }: WebhookChange) {
  return {
    ...(url !== undefined && { url }),
    ...(events && { events: JSON.stringify(events) }),
    ...(enabled !== undefined && { enabled: enabled ? (1 as const) : (0 as const) }),
    ...(isStandard !== undefined && { standard: isStandard ? (1 as const) : (0 as const) }),
    ...(domainIds !== undefined && { domainIds: storedDomainIds(domainIds) }),
  }
}

/** Returns the event types that the webhook subscribes to. */
export function eventsOf({ events }: Pick<WebhookRow, 'events'>): SubscribableType[] {
  const types = new Set<string>(JSON.parse(events) as string[])
  return SUBSCRIBABLE_TYPES.filter(type => types.has(type))
}

function storedDomainIds(ids: readonly Id[] | null): string | null {
  return ids && JSON.stringify([...new Set(ids.map(idText))])
}

const LOCAL_HTTP =
  'for tests, the operator can allow http:// to 127.0.0.1 and [::1] with the setting `webhooks.allow_insecure_loopback` (MAILHORN_WEBHOOKS_ALLOW_INSECURE_LOOPBACK=true)'

function isLocalHttp(url: string): boolean {
  const { protocol, hostname } = URL.parse(url) ?? { protocol: '', hostname: '' }
  return protocol === 'http:' && (hostname === 'localhost' || isLoopback(hostname.replace(/^\[|\]$/g, '')))
}

/** Checks literal addresses; a host name is checked at each lookup. */
function faultIn(
  url: string,
  { allowInsecureLoopback, allowLoopback }: Pick<WebhooksOptions, 'allowInsecureLoopback' | 'allowLoopback'>,
): string | undefined {
  const target = readTarget(url, { allowInsecureLoopback })
  if ('fault' in target) return isLocalHttp(url) ? `${target.fault}; ${LOCAL_HTTP}` : target.fault
  const { host, isSecure } = target
  const mayBeLoopback = allowLoopback || !isSecure
  const isReachable = isIP(host) === 0 || isGlobalUnicast(host) || (mayBeLoopback && isLoopback(host))
  return isReachable ? undefined : 'must not lead to an address that is not public'
}
