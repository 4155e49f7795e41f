/**
 * Names the operations of the OpenAPI document so that they read as the methods of a generated client, such
 * as `sendEmail` and `listContacts`: a verb for the HTTP method, and nouns for the path. Names that the rule
 * would get wrong are listed. Clients depend on the names, so that a name must not change.
 */
import * as z from 'zod'
import type { Route } from '../route/route.ts'

type Place = Pick<Route, 'method' | 'path' | 'replies'>

const NAMES: Readonly<Record<string, string>> = {
  'POST /emails': 'sendEmail',
  'POST /emails/batch': 'sendEmailBatch',
  'GET /emails/:id/raw': 'getRawEmail',
  'POST /emails/:id/share': 'createEmailShare',
  'GET /emails/:id/share': 'listEmailShares',
  'GET /inbound/:id/raw': 'getRawInboundEmail',
  'POST /inbound/routes': 'createInboundRoute',
  'GET /inbound/routes': 'listInboundRoutes',
  'POST /inbound/routes/test': 'testInboundRoutes',
  'GET /inbound/routes/:id': 'getInboundRoute',
  'PATCH /inbound/routes/:id': 'updateInboundRoute',
  'DELETE /inbound/routes/:id': 'deleteInboundRoute',
  'GET /inbound/routes/:id/log': 'listInboundRouteLog',
  'GET /inbound/unread-count': 'countUnreadInboundEmails',
  'POST /inbound/batch/remove': 'removeInboundEmails',
  'POST /inbound/batch/update': 'updateInboundEmails',
  'POST /auth/login': 'signIn',
  'POST /auth/logout': 'signOut',
  'POST /auth/password': 'changePassword',
  'POST /domains/claim': 'claimDomain',
  'PUT /audiences/:id/segments/:segment_id': 'updateAudienceSegment',
  'POST /audiences/:id/segments/count': 'countSegmentContacts',
  'POST /audiences/:id/contacts/import/preview': 'previewContactImport',
  'GET /broadcasts/:id/recipients/preview': 'previewBroadcastRecipients',
  'GET /broadcasts/:id/providers': 'getBroadcastProviders',
  'POST /contacts/:contact_id/segments/:segment_id': 'addContactToSegment',
  'DELETE /contacts/:contact_id/segments/:segment_id': 'removeContactFromSegment',
  'POST /suppressions/batch/add': 'addSuppressions',
  'POST /suppressions/batch/remove': 'removeSuppressions',
  'POST /suppressions/import': 'importSuppressions',
  'GET /suppressions/export.json': 'listExportedSuppressions',
  'GET /webhooks/:id/deliveries': 'listWebhookDeliveries',
  'GET /doctor': 'runDiagnostics',
  'POST /setup/plan': 'planSetup',
  'POST /setup/checks': 'checkSetup',
  'POST /setup/test-email': 'sendTestEmail',
  'GET /destinations/slow': 'listSlowDestinations',
  'POST /destinations/slow': 'slowDestination',
  'POST /destinations/unslow': 'unslowDestination',
  'POST /destinations/resume': 'resumeDestination',
  'GET /installation/banned-domains': 'listBannedDomains',
  'GET /installation/backups': 'listBackups',
  'POST /installation/backups/run': 'runBackup',
  'POST /installation/backups/verify': 'verifyBackup',
  'GET /installation/certificates': 'listCertificates',
  'POST /installation/certificates/order': 'orderCertificate',
  'GET /installation/log': 'listLogLines',
  'GET /installation/releases': 'getReleases',
  'GET /installation/storage': 'getStorage',
  'GET /installation/settings': 'listSettings',
  'POST /installation/smtp-test': 'testSmtp',
  'POST /installation/ban-domain': 'banDomain',
  'POST /installation/unban-domain': 'unbanDomain',
  'GET /queue/holds': 'listQueueHolds',
  'POST /queue/hold': 'createQueueHold',
  'POST /queue/release': 'releaseQueueHold',
  'POST /queue/retry': 'retryQueuedEmails',
  'POST /queue/cancel': 'cancelQueuedEmails',
  'GET /alerts/silences': 'listAlertSilences',
  'POST /alerts/silence': 'silenceAlerts',
  'POST /alerts/unsilence': 'unsilenceAlerts',
  'POST /alerts/test': 'testAlerts',
  'POST /inbound/:id/reply': 'replyToInboundEmail',
  'GET /account': 'getOwnAccount',
  'GET /account/usage': 'getAccountUsage',
  'GET /healthz': 'getLiveness',
  'GET /readyz': 'getReadiness',
  'GET /metrics': 'getPrometheusMetrics',
  'GET /openapi.json': 'getOpenapiDocument',
  'GET /llms.txt': 'getLlmsText',
  'GET /downloads': 'downloadFile',
  'GET /l/:logo': 'getLogo',
  'GET /v/:token': 'showEmail',
  'GET /v/:token/html': 'showEmailHtml',
  'GET /o/:token': 'trackOpen',
  'GET /c/:token': 'followTrackedLink',
  'GET /u/:token': 'showUnsubscribePage',
  'POST /u/:token': 'unsubscribe',
  'GET /s/:token': 'showSharedEmail',
  'GET /s/:token/html': 'showSharedEmailHtml',
  'GET /.well-known/acme-challenge/:token': 'answerAcmeChallenge',
  'GET /.well-known/mta-sts.txt': 'getMtaStsPolicy',
  'GET /.well-known/mailhorn-links': 'proveTrackingHost',
}

/** Singular and plural of parts of paths that are no plural themselves. */
const NOUNS: Readonly<Record<string, readonly [singular: string, plural: string]>> = {
  inbound: ['inbound-email', 'inbound-emails'],
  receiving: ['received-email', 'received-emails'],
  auth: ['', ''],
}
/** Last segments of the paths of GET routes that are verbs. */
const READING_VERBS = new Set(['export', 'stream', 'preview'])
const VERBS = { GET: 'get', POST: 'create', PATCH: 'update', PUT: 'replace', DELETE: 'delete' } as const

/** @param routes all routes */
export function operationIdOf(route: Place, routes: readonly Place[]): string {
  const { method, path } = route
  const name = NAMES[`${method} ${path}`]
  if (name !== undefined) return name
  const parts = nounsOf(path)
  const last = parts.at(-1)!
  if (method === 'GET' && isList(route)) return camel('list', [...parts.slice(0, -1).map(named), last])
  if (method === 'GET' && !last.isNamed && READING_VERBS.has(last.text))
    return camel(last.text, parts.slice(0, -1))
  if (method === 'POST' && !last.isNamed && !isCollection(path, routes)) {
    const [verb, ...object] = last.text.split('-')
    return camel(verb!, [...parts.slice(0, -1), ...object.map(text => ({ text, isNamed: false }))])
  }
  return camel(VERBS[method], [...parts.slice(0, -1).map(named), method === 'POST' ? named(last) : last])
}

/** Returns the operation id as the name of a type. */
export function typeNameOf(operationId: string): string {
  return operationId[0]!.toUpperCase() + operationId.slice(1)
}

interface Part {
  text: string
  /** Whether a parameter that names one of them follows. */
  isNamed: boolean
}

/** Returns the nouns of a path. `/emails/receiving` is a collection apart from `/emails`. */
function nounsOf(path: string): Part[] {
  const parts = path.split('/').slice(1)
  return parts.flatMap((text, i) =>
    text.startsWith(':') || parts[i + 1] === 'receiving'
      ? []
      : [{ text, isNamed: parts[i + 1]?.startsWith(':') ?? false }],
  )
}

function named({ text }: Part): Part {
  return { text, isNamed: true }
}

function isList({ replies }: Place): boolean {
  const [reply] = Object.values(replies)
  return (
    reply instanceof z.ZodArray || (reply instanceof z.ZodObject && reply.shape.data instanceof z.ZodArray)
  )
}

/** Tells whether a path has entries that can be listed or retrieved. */
function isCollection(path: string, routes: readonly Place[]): boolean {
  return routes.some(
    other =>
      other.method === 'GET' &&
      (other.path === path
        ? isList(other)
        : other.path.replace(/\/:\w+$/, '') === path && /:\w+$/.test(other.path)),
  )
}

function camel(verb: string, parts: readonly Part[]): string {
  const nouns = parts.map(
    ({ text, isNamed }) => NOUNS[text]?.[isNamed ? 0 : 1] ?? (isNamed ? singular(text) : text),
  )
  return (
    verb +
    nouns
      .flatMap(noun => noun.split(/[-.]/))
      .map(capitalized)
      .join('')
  )
}

/** Returns the singular of a plural noun, or the word itself. */
export function singular(noun: string): string {
  if (noun.endsWith('ies')) return `${noun.slice(0, -3)}y`
  return /(?:[^s]s)$/.test(noun) && !/(?:metrics|dns|status)$/.test(noun) ? noun.slice(0, -1) : noun
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
