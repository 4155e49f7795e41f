/**
 * Values that the comments of the SDKs give as examples or defaults. Those of the Node package are read from
 * its declaration file; those of the other SDKs are listed with the languages whose comments have them.
 */
import { readFileSync } from 'node:fs'
import type { SdkWorld } from './calls.ts'

const declarations = new URL('../../../node_modules/resend/dist/index.d.mts', import.meta.url)
const COMMENTED = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:readonly )?(\w+)\??:/g
/** Patterns by which comments introduce a value. */
const FORMS = [
  /\be\.?g\.?:\s*([^)]+)\)/g,
  /\bformat `"([^`]+)"`/g,
  /\bdefaults to `([^`]+)`/gi,
  /@default '([^']+)'/g,
  /`'(\w+)'`/g,
  /\bUse `(null)` to clear/g,
]

/** Pairs such as `scheduledAt: in 2 days`, each once, in the order of the file. */
export function valuesOfNodeComments(): string[] {
  const text = readFileSync(declarations, 'utf8')
  const pairs = [...text.matchAll(COMMENTED)].flatMap(([, comment, field]) => {
    const plain = comment!.replace(/\n\s*\* ?/g, ' ')
    return FORMS.flatMap(form => [...plain.matchAll(form)].map(([, value]) => `${field}: ${value!.trim()}`))
  })
  return [...new Set(pairs)]
}

export interface CommentValue {
  /** Name of the field in the API. */
  field: string
  value: string
  languages: string
  /** Sends the value. */
  call(world: SdkWorld): Promise<{ status: number; body: { message?: string; warnings?: Warning[] } }>
}

interface Warning {
  path: string
  message: string
}

const ALL = 'all'
const MAIL = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 's', text: 't' }

const send =
  (method: string, path: string, body?: object): CommentValue['call'] =>
  ({ mailhorn, credential: session }) =>
    mailhorn.call(method, path, { session, ...(body && { body }) })

const scheduled = (value: string): CommentValue['call'] =>
  send('POST', '/emails', { ...MAIL, scheduled_at: value })
const metrics = (query: string) => send('GET', `/emails/metrics?dimensions=period&${query}`)
const shared =
  (expires_in: string): CommentValue['call'] =>
  async world => {
    const { id } = await world.make('/emails', MAIL)
    return send('POST', `/emails/${id}/share`, { expires_in })(world)
  }
const changed =
  (body: object): CommentValue['call'] =>
  async world => {
    const { id } = await world.make('/contacts', {
      email: `${world.fresh('ann')}@there.example`,
      first_name: 'A',
      last_name: 'B',
    })
    return send('PATCH', `/contacts/${id}`, body)(world)
  }
const received =
  (format: string): CommentValue['call'] =>
  async world => {
    const { receivedEmail } = await import('./fixtures.ts')
    const { id } = await receivedEmail(world)
    return send('GET', `/emails/receiving/${id}?html_format=${format}`)(world)
  }
const property =
  (body: object): CommentValue['call'] =>
  world =>
    send('POST', '/contact-properties', { key: world.fresh('key'), ...body })(world)
const batch =
  (mode: string): CommentValue['call'] =>
  ({ mailhorn, credential: session }) =>
    mailhorn.call('POST', '/emails/batch', {
      ...{ session, body: [MAIL], headers: { 'x-batch-validation': mode } },
    })

/** A time that has passed is sent as one to come: the comment shows the form. */
const inItsForm: CommentValue['call'] = world => scheduled(world.inHours(24))(world)

export const COMMENT_VALUES: readonly CommentValue[] = [
  {
    field: 'from',
    value: 'Your Name <sender@domain.com>',
    languages: ALL,
    call: send('POST', '/emails', { ...MAIL, from: 'Your Name <sender@here.example>' }),
  },
  { field: 'scheduled_at', value: '2024-08-05T11:52:01.858Z', languages: ALL, call: inItsForm },
  { field: 'scheduled_at', value: 'in 2 days', languages: 'Node', call: scheduled('in 2 days') },
  { field: 'scheduled_at', value: 'in 1 min', languages: 'Python, Go, Java', call: scheduled('in 1 min') },
  ...['10m', '2 hours', '1 day', '1h 30m', '48h'].map(value => ({
    ...{ field: 'expires_in', value, languages: 'Python, Ruby, Java, .NET', call: shared(value) },
  })),
  { field: 'x-batch-validation', value: 'strict', languages: ALL, call: batch('strict') },
  { field: 'x-batch-validation', value: 'permissive', languages: ALL, call: batch('permissive') },
  { field: 'first_name', value: 'null', languages: 'Node', call: changed({ first_name: null }) },
  { field: 'last_name', value: 'null', languages: 'Node', call: changed({ last_name: null }) },
  { field: 'timezone', value: 'UTC', languages: 'Node', call: metrics('timezone=UTC') },
  {
    field: 'timezone',
    value: 'America/New_York',
    languages: 'Rust',
    call: metrics('timezone=America/New_York'),
  },
  { field: 'dimensions', value: '[]', languages: 'Node', call: send('GET', '/emails/metrics') },
  { field: 'granularity', value: 'daily', languages: 'Node', call: metrics('granularity=daily') },
  { field: 'html_format', value: 'data_uri', languages: 'Node', call: received('data_uri') },
  { field: 'html_format', value: 'cid', languages: 'Node', call: received('cid') },
  { field: 'html_format', value: 'sanitized', languages: 'Ruby', call: received('sanitized') },
  { field: 'html_format', value: 'raw', languages: 'Ruby', call: received('raw') },
  {
    field: 'tracking_subdomain',
    value: 'links',
    languages: 'Python',
    call: world =>
      send('POST', '/domains', { name: `${world.fresh('shop')}.example`, tracking_subdomain: 'links' })(
        world,
      ),
  },
  {
    field: 'type',
    value: 'string',
    languages: 'Python',
    call: property({ type: 'string', fallback_value: 'Example Company' }),
  },
  {
    field: 'type',
    value: 'number',
    languages: 'Python',
    call: property({ type: 'number', fallback_value: 30 }),
  },
  { field: 'type', value: 'boolean', languages: 'Python', call: property({ type: 'boolean' }) },
  {
    field: 'properties',
    value: '{"tier": "premium", "age": "30", "active": "true"}',
    languages: 'Go',
    call: world =>
      send('POST', '/contacts', {
        email: `${world.fresh('ann')}@there.example`,
        properties: { tier: 'premium', age: '30', active: 'true' },
      })(world),
  },
  {
    field: 'variables[].key',
    value: 'FIRST_NAME',
    languages: 'Python, Rust',
    call: send('POST', '/templates', {
      name: 'n',
      html: '<p>{{{FIRST_NAME}}}</p>',
      variables: [{ key: 'FIRST_NAME', type: 'string' }],
    }),
  },
  {
    field: 'endpoint',
    value: 'https://webhook.example.com/handler',
    languages: 'Ruby',
    call: send('POST', '/webhooks', {
      endpoint: 'https://webhook.example.com/handler',
      events: ['email.sent'],
    }),
  },
]

/**
 * Values of the Node package's comments that are of features that Mailhorn does not have, or that are not
 * sent.
 */
export const NOT_SENT = [/^color: /]
