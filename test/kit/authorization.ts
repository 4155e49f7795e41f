/**
 * Lists who may use each route. It is written by hand, and `test/unit/interfaces/api/authorization.test.ts`
 * compares it with the routes, so that a mistake in the code cannot hide itself. A route that names something
 * by an id reaches only resources of the credential's account, and answers 404 otherwise
 * (`test/flow/http/other-account.test.ts`).
 */

/**
 * Routes by what a credential needs. `public`: none. `person`: a session, no access token. `operator`: the
 * session of an operator, or an access token with these rights. Others: the scope of an access token;
 * sessions have all scopes. Routes that begin with `key` accept API keys, too.
 */
const ROUTES_BY_NEED = {
  public: [
    'GET /.well-known/acme-challenge/:token',
    'GET /.well-known/mailhorn-links',
    'GET /.well-known/mta-sts.txt',
    'POST /auth/login',
    'GET /c/:token',
    'GET /downloads',
    'GET /healthz',
    'GET /llms.txt',
    'GET /metrics',
    'GET /o/:token',
    'GET /openapi.json',
    'GET /readyz',
    'GET /s/:token',
    'GET /s/:token/html',
    'GET /u/:token',
    'POST /u/:token',
  ],
  person: [
    'GET /access-tokens',
    'POST /access-tokens',
    'DELETE /access-tokens/:id',
    'GET /access-tokens/:id',
    'PATCH /access-tokens/:id',
    'POST /auth/logout',
    'POST /auth/password',
    'GET /auth/session',
    'GET /auth/sessions',
    'DELETE /auth/sessions/:id',
  ],
  operator: [
    'GET /accounts',
    'POST /accounts',
    'DELETE /accounts/:id',
    'PATCH /accounts/:id',
    'POST /accounts/:id/reset-password',
    'GET /alerts',
    'POST /alerts/silence',
    'GET /alerts/silences',
    'POST /alerts/test',
    'POST /alerts/unsilence',
    'GET /destinations',
    'POST /destinations/resume',
    'GET /destinations/slow',
    'POST /destinations/slow',
    'POST /destinations/unslow',
    'GET /dns/records',
    'GET /doctor',
    'POST /installation/ban-domain',
    'GET /installation/banned-domains',
    'GET /installation/mode',
    'PUT /installation/mode',
    'POST /installation/unban-domain',
    'GET /queue',
    'POST /queue/cancel',
    'POST /queue/hold',
    'GET /queue/holds',
    'POST /queue/release',
    'POST /queue/retry',
    'GET /setup',
    'POST /setup/checks',
    'POST /setup/plan',
    'POST /setup/test-email',
    'GET /sources',
  ],
  'account:read': [
    'GET /account',
    'GET /account/usage',
    'GET /accounts/:id',
    'GET /installation',
    'GET /usage',
  ],
  'activity:read': ['GET /activity', 'GET /activity/stream'],
  'api-keys:read': ['GET /api-keys'],
  'api-keys:write': ['POST /api-keys', 'DELETE /api-keys/:id', 'PATCH /api-keys/:id'],
  'broadcasts:read': [
    'GET /broadcasts',
    'GET /broadcasts/:id',
    'GET /broadcasts/:id/clicked-links',
    'GET /broadcasts/:id/links',
    'POST /broadcasts/:id/lint',
    'GET /broadcasts/:id/preview',
    'GET /broadcasts/:id/recipients',
    'GET /broadcasts/:id/recipients/export',
    'GET /broadcasts/:id/recipients/preview',
  ],
  'broadcasts:write': [
    'POST /broadcasts',
    'DELETE /broadcasts/:id',
    'PATCH /broadcasts/:id',
    'POST /broadcasts/:id/cancel',
    'POST /broadcasts/:id/duplicate',
    'POST /broadcasts/:id/pause',
    'POST /broadcasts/:id/resume',
    'POST /broadcasts/:id/send',
    'POST /broadcasts/:id/test',
    'POST /broadcasts/:id/unschedule',
  ],
  'contacts:read': [
    'GET /audiences',
    'GET /audiences/:id',
    'GET /audiences/:id/contacts',
    'GET /audiences/:id/contacts/:contact_id',
    'GET /audiences/:id/contacts/:contact_id/topics',
    'GET /audiences/:id/contacts/export',
    'GET /audiences/:id/imports',
    'GET /audiences/:id/imports/:import_id',
    'GET /audiences/:id/properties',
    'GET /audiences/:id/segments',
    'GET /audiences/:id/segments/:segment_id',
    'GET /audiences/:id/segments/:segment_id/contacts',
    'POST /audiences/:id/segments/count',
    'GET /contact-properties',
    'GET /contact-properties/:id',
    'GET /contacts',
    'GET /contacts/:contact_id',
    'GET /contacts/:contact_id/segments',
    'GET /contacts/:contact_id/topics',
    'GET /contacts/imports',
    'GET /contacts/imports/:id',
    'GET /segments',
    'GET /segments/:id',
    'GET /segments/:id/contacts',
    'GET /topics',
    'GET /topics/:id',
  ],
  'contacts:read and emails:read': ['GET /contacts/:contact_id/activity'],
  'contacts:write': [
    'POST /audiences',
    'DELETE /audiences/:id',
    'PATCH /audiences/:id',
    'POST /audiences/:id/contacts',
    'DELETE /audiences/:id/contacts/:contact_id',
    'PATCH /audiences/:id/contacts/:contact_id',
    'PATCH /audiences/:id/contacts/:contact_id/topics',
    'POST /audiences/:id/contacts/import',
    'POST /audiences/:id/segments',
    'DELETE /audiences/:id/segments/:segment_id',
    'PUT /audiences/:id/segments/:segment_id',
    'POST /contact-properties',
    'DELETE /contact-properties/:id',
    'PATCH /contact-properties/:id',
    'POST /contacts',
    'DELETE /contacts/:contact_id',
    'PATCH /contacts/:contact_id',
    'DELETE /contacts/:contact_id/segments/:segment_id',
    'POST /contacts/:contact_id/segments/:segment_id',
    'PATCH /contacts/:contact_id/topics',
    'POST /contacts/imports',
    'POST /segments',
    'DELETE /segments/:id',
    'PATCH /segments/:id',
    'POST /topics',
    'DELETE /topics/:id',
    'PATCH /topics/:id',
  ],
  'domains:read': ['GET /domains', 'GET /domains/:id', 'GET /domains/:id/claim', 'GET /domains/:id/keys'],
  'domains:write': [
    'POST /domains',
    'DELETE /domains/:id',
    'PATCH /domains/:id',
    'POST /domains/:id/autoconfigure',
    'POST /domains/:id/claim/verify',
    'POST /domains/:id/rotate-keys',
    'POST /domains/:id/verify',
    'POST /domains/claim',
  ],
  'emails:read': [
    'key GET /emails',
    'key GET /emails/:id',
    'key GET /emails/:id/attachments',
    'key GET /emails/:id/attachments/:attachment_id',
    'key GET /emails/:id/raw',
    'key GET /emails/:id/share',
    'key GET /emails/export',
    'key GET /emails/metrics',
  ],
  'emails:send': ['key POST /emails', 'key POST /emails/batch'],
  'emails:write': [
    'key PATCH /emails/:id',
    'key POST /emails/:id/cancel',
    'key POST /emails/:id/give-up',
    'key POST /emails/:id/retry',
    'key POST /emails/:id/share',
    'key DELETE /emails/:id/share/:share_id',
  ],
  'inbound:read': [
    'key GET /emails/receiving',
    'key GET /emails/receiving/:id',
    'key GET /emails/receiving/:id/attachments',
    'key GET /emails/receiving/:id/attachments/:attachment_id',
    'key GET /inbound',
    'key GET /inbound/:id',
    'key GET /inbound/:id/attachments/:n',
    'key GET /inbound/:id/raw',
  ],
  'inbound:read and emails:send': ['key POST /inbound/:id/forward', 'key POST /inbound/:id/reply'],
  'inbound:write': ['key DELETE /inbound/:id'],
  'logs:read': ['GET /logs', 'GET /logs/:id'],
  'suppressions:read': [
    'key GET /suppressions',
    'key GET /suppressions/:id',
    'key GET /suppressions/export',
    'key GET /suppressions/export.json',
  ],
  'suppressions:write': [
    'key POST /suppressions',
    'key DELETE /suppressions/:id',
    'key POST /suppressions/batch/add',
    'key POST /suppressions/batch/remove',
    'key POST /suppressions/import',
  ],
  'templates:read': [
    'GET /templates',
    'GET /templates/:id',
    'GET /templates/:id/versions',
    'GET /templates/:id/versions/:version',
  ],
  'templates:write': [
    'POST /templates',
    'DELETE /templates/:id',
    'PATCH /templates/:id',
    'PUT /templates/:id',
    'POST /templates/:id/duplicate',
    'POST /templates/:id/publish',
    'POST /templates/:id/versions/:version/restore',
  ],
  'webhooks:read': [
    'GET /webhooks',
    'GET /webhooks/:id',
    'GET /webhooks/:id/deliveries',
    'GET /webhooks/:id/events',
    'GET /webhooks/:id/events/:event_id',
    'GET /webhooks/:id/events/:event_id/attempts',
  ],
  'webhooks:write': [
    'POST /webhooks',
    'DELETE /webhooks/:id',
    'PATCH /webhooks/:id',
    'POST /webhooks/:id/deliveries/:delivery_id/replay',
    'POST /webhooks/:id/events/:event_id/replay',
    'POST /webhooks/:id/rotate-secret',
    'POST /webhooks/:id/signing-secret/rotate',
    'POST /webhooks/:id/test',
  ],
} as const

export interface Authorization {
  /** Method and path, as in `GET /emails/:id`. */
  route: string
  access: 'public' | 'key' | 'session'
  /** Scopes as `scopesOfRoute` names them; `session` means that a person must be signed in. */
  scopes: string[]
}

export const AUTHORIZATIONS: readonly Authorization[] = Object.entries(ROUTES_BY_NEED).flatMap(
  ([need, routes]) =>
    routes.map(entry => {
      const route = entry.replace(/^key /, '')
      if (need === 'public') return { route, access: 'public', scopes: [] }
      const scopes = need === 'person' ? ['session'] : need.split(' and ')
      return { route, access: entry === route ? 'session' : 'key', scopes }
    }),
)

/** @throws Error for a route that the table does not have */
export function authorizationOf({ method, path }: { method: string; path: string }): Authorization {
  const found = AUTHORIZATIONS.find(({ route }) => route === `${method} ${path}`)
  if (!found) throw new Error(`test/kit/authorization.ts does not say who may use ${method} ${path}`)
  return found
}
