/** Adds to the schemas of bodies what zod does not say: alternatives, limits, and the fields of forms. */
import type { Route } from '../route/route.ts'
import type { JsonObject, Schemas } from './json-schemas.ts'

interface Rule {
  /** Replaces the required keys. */
  required?: readonly string[]
  /** Sets of keys of which at least one must be there. */
  anyOf?: readonly (readonly string[])[]
  /** Sets of keys of which exactly one must be there. */
  oneOf?: readonly (readonly string[])[]
  /** Keys that must not be there together. */
  not?: readonly string[]
  /** Additions to properties by their keys. */
  properties?: Readonly<Record<string, JsonObject>>
}

const EMAIL = { format: 'email' }
const RECIPIENTS =
  'At most 50 recipients in `to`, `cc` and `bcc` together: `ann@example.com` or `Ann <ann@example.com>`.'
const SELECTED: Rule = { anyOf: [['domain'], ['account_id'], ['broadcast_id'], ['email_id']] }

const MESSAGE: Rule = {
  required: ['to'],
  anyOf: [['from', 'subject', 'html'], ['from', 'subject', 'text'], ['template_id'], ['template']],
  not: ['template', 'template_id'],
  properties: {
    from: {
      description:
        'Sender: `ann@example.com` or `Ann <ann@example.com>`, at a verified domain. Required unless a template has one.',
    },
    to: { description: RECIPIENTS },
    cc: { description: RECIPIENTS },
    bcc: { description: RECIPIENTS },
    reply_to: { description: 'Addresses that replies go to, at most 50.' },
    subject: { description: 'Required unless a template has one.' },
    html: { description: 'HTML content.' },
    text: { description: 'Plain text. Without it, a text is derived from the HTML; `""` sends none.' },
    headers: { description: 'Further header fields, at most 100.' },
    attachments: { description: 'At most 100 files and 40 MB in total, encoded.', maxItems: 100 },
    tags: {
      description: 'Metadata that is stored with the email, at most 50 objects and 4 KB.',
      maxItems: 50,
    },
    template: { description: 'Template and the values of its variables. Another spelling of `template_id`.' },
    template_id: {
      description: 'Template that supplies what is absent: sender, reply addresses, subject, HTML and text.',
    },
    template_data: { description: 'Values of the variables of `template_id`.' },
    scheduled_at: {
      description: 'Time at which the email is sent, with an offset or `Z`, at most a year ahead.',
    },
  },
}

const BROADCAST_FILES = {
  attachments: {
    description: 'Files of each email, at most 100 and 2 MB in total, encoded.',
    maxItems: 100,
  },
}

const RULES: Readonly<Record<string, Rule>> = {
  sendEmail: MESSAGE,
  sendEmailBatch: MESSAGE,
  createBroadcast: {
    properties: BROADCAST_FILES,
    anyOf: [
      ['audience_id', 'from', 'subject'],
      ['audience_id', 'template_id'],
      ['segment_id', 'from', 'subject'],
      ['segment_id', 'template_id'],
    ],
  },
  updateBroadcast: { properties: BROADCAST_FILES },
  createWebhook: { anyOf: [['url'], ['endpoint']], properties: { url: { format: 'uri' } } },
  createQueueHold: SELECTED,
  releaseQueueHold: SELECTED,
  retryQueuedEmails: SELECTED,
  cancelQueuedEmails: SELECTED,
  removeSuppressions: { oneOf: [['emails'], ['ids']] },
  replyToInboundEmail: { anyOf: [['html'], ['text']] },
  createSuppression: { properties: { email: EMAIL } },
  createContact: { properties: { email: EMAIL } },
  createAudienceContact: { properties: { email: EMAIL } },
  createAccount: { properties: { owner_email: EMAIL } },
  updateAccount: { properties: { owner_email: EMAIL } },
  signIn: { properties: { email: EMAIL } },
}

const TOPIC_LIST = 'JSON array of topics: `[{"id": "…", "subscription": "opt_in"}]`.'
/** Bodies that are not JSON. */
const FILES: Readonly<Record<string, JsonObject>> = {
  importAudienceContacts: {
    'text/csv': {
      schema: {
        type: 'string',
        format: 'binary',
        description: 'CSV with a header row and a column `email`.',
      },
    },
  },
  createContactImport: {
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['file'],
        properties: {
          file: { type: 'string', format: 'binary', description: 'CSV with a header row, at most 1 GB.' },
          column_map: {
            type: 'string',
            description:
              'JSON object: `{"email": "E-mail", "properties": {"plan": {"column": "Plan", "type": "string"}}}`.',
          },
          column_meanings: {
            type: 'string',
            description:
              'JSON object with answers to the `questions` of a former reply: ' +
              '`{"statuscode": {"2": "unsubscribed", "*": "subscribed"}, "active": "property"}`.',
          },
          on_conflict: {
            type: 'string',
            enum: ['upsert', 'skip'],
            description: 'What happens to contacts that exist; without it, `skip`.',
          },
          segments: {
            type: 'string',
            description: 'JSON array of at most 20 audiences: `[{"id": "aud_…"}]`.',
          },
          topics: { type: 'string', description: TOPIC_LIST },
        },
      },
    },
  },
  unsubscribe: {
    'application/x-www-form-urlencoded': {
      schema: {
        type: 'object',
        properties: {
          'List-Unsubscribe': { type: 'string', const: 'One-Click' },
          choice: { type: 'string', description: 'Choice on the page; without it, what the link is for.' },
          topic: { type: 'array', items: { type: 'string' }, description: 'Topics that stay subscribed.' },
        },
      },
    },
  },
}

/** Returns undefined for an operation without a body. */
export function requestBodyOf(
  { body, bodyType }: Route,
  schemas: Schemas,
  operationId: string,
  example?: unknown,
): JsonObject | undefined {
  const content = FILES[operationId]
  if (content) return { required: operationId !== 'unsubscribe', content }
  if (bodyType !== undefined)
    return { required: true, content: { [bodyType]: { schema: { type: 'string', format: 'binary' } } } }
  if (!body) return undefined
  const rule = RULES[operationId] ?? {}
  const schema = schemas.ofRequest(body, operationId, json => changed(json, rule))
  const isRequired = !body.safeParse({}).success || Boolean(rule.anyOf ?? rule.oneOf ?? rule.required)
  return {
    required: isRequired,
    content: { 'application/json': { schema, ...(example !== undefined && { example }) } },
  }
}

function changed(schema: JsonObject, rule: Rule): JsonObject {
  if (schema.type === 'array') return { ...schema, items: changed(schema.items as JsonObject, rule) }
  const properties = { ...(schema.properties as Record<string, JsonObject>) }
  for (const [key, addition] of Object.entries(rule.properties ?? {}))
    if (properties[key]) properties[key] = { ...properties[key], ...addition }
  const alternatives = (sets: readonly (readonly string[])[]) => sets.map(required => ({ required }))
  return {
    ...schema,
    properties,
    ...(rule.required && { required: rule.required }),
    ...(rule.anyOf && { anyOf: alternatives(rule.anyOf) }),
    ...(rule.oneOf && { oneOf: alternatives(rule.oneOf) }),
    ...(rule.not && {
      not: { required: rule.not, properties: Object.fromEntries(rule.not.map(key => [key, {}])) },
    }),
  }
}
