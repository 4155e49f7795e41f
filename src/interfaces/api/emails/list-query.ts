/** Reads the filters and the page of a list of emails from the query. Empty parameters count as absent. */
import * as z from 'zod'
import { parseWireId } from '../../../lib/ids.ts'
import { parseDomain, parseMailbox } from '../../../protocols/smtp/address.ts'
import { EMAIL_ORIGINS, type EmailFilter, foldSubject } from '../../../resources/search/facets.ts'
import type { SearchPage } from '../../../resources/search/list.ts'
import { readSearchWords, type SearchWord } from '../../../resources/search/words.ts'
import { EMAIL_STATUSES, type EmailStatus } from '../../../store/model/schema.ts'
import { invalidField } from '../api-error.ts'
import { pageQuery, readPage, readParameter, readTimeParameter } from '../schema/read.ts'
import { idSchema } from '../schema/reply-schemas.ts'

const text = (description: string) => z.string().optional().meta({ description })

export const emailFilterQuery = {
  status: z.enum(EMAIL_STATUSES).optional(),
  search: text(
    'Words that all occur in the subject, names, addresses, tags or Message-ID, or the id of the email.',
  ),
  q: text('Substring of the subject.'),
  from: text('Address of the sender.'),
  to: text('Address of a recipient.'),
  tag: text('Name or value of a tag.'),
  domain: text('Domain of the sender.'),
  broadcast_id: idSchema('brd').optional(),
  template_id: idSchema('tpl').optional(),
  api_key_id: z
    .union([idSchema('key'), idSchema('tok')])
    .optional()
    .meta({ description: 'API key or access token the email was sent with.' }),
  source: z.enum(EMAIL_ORIGINS).optional().meta({ description: 'Source of the email.' }),
  destination: text('Destination, as `GET /destinations` names it, of the domain of a recipient.'),
  created_after: text('ISO 8601 time or date.'),
  created_before: text('ISO 8601 time or date.'),
}
export const emailPageQuery = {
  ...pageQuery(),
  after: idSchema('eml').optional(),
  before: idSchema('eml').optional(),
}

/** @throws ApiError 422 naming the parameter */
export function readEmailFilter(query: URLSearchParams): EmailFilter {
  const read = <T>(name: string, parse: (text: string) => T | undefined, rule: string) =>
    readParameter(query, name, parse, rule)
  return {
    status: read('status', statusOf, `one of ${EMAIL_STATUSES.join(', ')}`),
    words: read('search', shortText, `a text of at most ${SEARCH_CHARACTERS_MAX} characters`)?.words,
    subject: read('q', foldSubject, 'a text'),
    from: read('from', addressOf, 'an email address'),
    to: read('to', addressOf, 'an email address'),
    tag: read('tag', text => text, 'a text'),
    domain: read('domain', parseDomain, 'a domain name'),
    broadcastId: read('broadcast_id', text => parseWireId('brd', text), "a broadcast's id"),
    templateId: read('template_id', text => parseWireId('tpl', text), "a template's id"),
    apiKeyId: read(
      'api_key_id',
      text => parseWireId('key', text) ?? parseWireId('tok', text),
      'the id of an API key or access token',
    ),
    source: read(
      'source',
      text => EMAIL_ORIGINS.find(origin => origin === text),
      `one of ${EMAIL_ORIGINS.join(', ')}`,
    ),
    destination: read('destination', text => text, 'a text'),
    createdFrom: readTimeParameter(query, 'created_after'),
    createdBefore: readTimeParameter(query, 'created_before'),
  }
}

/** @throws ApiError 422 */
export function readEmailPage(query: URLSearchParams): SearchPage {
  const edge = (name: string) => readParameter(query, name, text => parseWireId('eml', text), "an email's id")
  const after = edge('after')
  const before = edge('before')
  if ((after || before) && ((after && before) || query.has('offset')))
    throw invalidField(
      before ? 'before' : 'after',
      'Only one of `after`, `before` and `offset` can be given.',
    )
  return { ...readPage(query), after, before }
}

/** Limits the texts that are searched for in a million emails. */
const SEARCH_CHARACTERS_MAX = 500

function shortText(text: string): { words: SearchWord[] | undefined } | undefined {
  return text.length > SEARCH_CHARACTERS_MAX ? undefined : { words: readSearchWords(text) }
}

function statusOf(text: string): EmailStatus | undefined {
  return EMAIL_STATUSES.find(status => status === text)
}

function addressOf(text: string): string | undefined {
  const parsed = parseMailbox(text)
  return 'fault' in parsed ? undefined : parsed.address
}
