/** Describes the parameters of operations in paths, queries and headers. */
import type * as z from 'zod'
import type { Route } from '../route/route.ts'
import type { JsonObject } from './json-schemas.ts'

/** Path parameters by the beginning of the path, `*` for any. `:name` stands for the parameter. */
const PATH: readonly [beginning: string, name: string, description: string][] = [
  ['/suppressions', 'id', 'Id or address of the suppression.'],
  ['/inbound', 'n', 'Position of the attachment, from 0, or its id.'],
  ['/segments', 'id', 'Id of the audience, which newer SDKs call a segment.'],
  ['/contacts', 'segment_id', 'Id of the audience, which newer SDKs call a segment.'],
  ['*', 'contact_id', 'Id or email address of the contact.'],
  ['*', 'version', 'Number of the version, from 1.'],
  ['*', 'token', 'Signed token of the link.'],
]

/** Parameters of queries and headers that have no description at their route. */
const OTHERS: Readonly<Record<string, string>> = {
  limit: 'Maximum number of rows in the reply.',
  offset: 'Number of rows to skip.',
  after: 'Id of a row; the reply begins with the row after it. Excludes `offset` and `before`.',
  before: 'Id of a row; the reply ends with the row before it. Excludes `offset` and `after`.',
  q: 'Text to search for.',
  status: 'Only rows with this status.',
  reason: 'Only suppressions with this reason.',
  origin: 'Alias of `reason`.',
  broadcast_id: 'Only emails of this broadcast.',
  contact_id: 'Id of the contact for whom the broadcast is rendered; by default an example.',
  segment_id: 'Only contacts of this segment.',
  recipient: 'Address of the recipient; by default the first one.',
  html_format: 'Whether links to attachments in the HTML are replaced.',
  token: 'Signed token of the link.',
  type: 'Which recipients are listed.',
  email: 'Only the recipient with this address.',
  bounce_type: 'Only bounces of this type.',
  enabled: 'Whether events are delivered to the webhook.',
  granularity: 'Length of a period.',
  day: 'Day in UTC.',
  destination: 'Only this destination.',
  by: 'How deliveries are grouped.',
  domain: 'Only this domain.',
  account_id: 'Only this account.',
  class: 'Only deliveries of this class.',
  'idempotency-key':
    'Makes the request safe to repeat: within 24 hours, a request with the same key and body gets the first reply again.',
  'x-batch-validation': '`permissive` sends the valid emails of a batch and lists the others in `errors`.',
}

type Shown = (schema: z.ZodType) => JsonObject

export function parametersOf({ path, query = {}, headers = {} }: Route, shown: Shown): JsonObject[] {
  return [
    ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      description: describedInPath(path, name!),
      schema: { type: 'string' },
    })),
    ...described('query', query, shown),
    ...described('header', headers, shown),
  ]
}

function described(place: 'query' | 'header', schemas: Readonly<Record<string, z.ZodType>>, shown: Shown) {
  return Object.entries(schemas).map(([name, schema]) => {
    const { description = OTHERS[name] ?? `The ${name.replaceAll(/[-_]/g, ' ')}.`, ...rest } = shown(schema)
    return {
      ...{ name, in: place, description },
      required: !schema.safeParse(undefined).success,
      schema: rest,
    }
  })
}

function describedInPath(path: string, name: string): string {
  const known = PATH.find(
    ([beginning, parameter]) => parameter === name && (beginning === '*' || path.startsWith(`${beginning}/`)),
  )
  if (known) return known[2]
  const owner = path.split('/')[path.split('/').indexOf(`:${name}`) - 1]!
  const noun = name === 'id' ? owner.replace(/ies$/, 'y').replace(/s$/, '') : name.replace(/_id$/, '')
  return `Id of the ${nounOf(noun)}, with or without its prefix.`
}

function nounOf(word: string): string {
  if (word === 'inbound' || word === 'receiving') return 'received message'
  return word.replaceAll(/[-_]/g, ' ').replace(/^api key$/, 'API key')
}
