/**
 * Reads an installation of listmonk: lists with their subscribers, the blocklist, bounces, and templates in
 * Go's template language, of which variables alone have a translation.
 */
import * as z from 'zod'
import { type Api, byOffset } from '../api.ts'
import { placeholder, type TranslateTag, translated } from '../placeholders.ts'
import { type ImportSource, namesIn, type SourceContact, type SourceSuppression, timeOf } from '../shapes.ts'

const PAGE = 1_000

const list = z.object({ id: z.number(), name: z.string(), optin: z.string().nullish() })
const subscriber = z.object({
  email: z.string(),
  name: z.string().nullish(),
  status: z.string().nullish(),
  created_at: z.string().nullish(),
  updated_at: z.string().nullish(),
  attribs: z.record(z.string(), z.unknown()).nullish(),
  lists: z.array(z.object({ id: z.number(), subscription_status: z.string().nullish() })).nullish(),
})
type Subscriber = z.output<typeof subscriber>
const bounce = z.object({
  email: z.string(),
  type: z.string().nullish(),
  created_at: z.string().nullish(),
})
const templates = z.object({
  data: z.array(
    z.object({
      id: z.number(),
      name: z.string(),
      type: z.string().nullish(),
      subject: z.string().nullish(),
      body: z.string().nullish(),
    }),
  ),
})

const WITHOUT_LIST = 'listmonk subscribers without a list'

export function listmonkSource(api: Api): ImportSource {
  return {
    async *suppressions() {
      for await (const { email, status, updated_at } of all(api, subscriber, '/api/subscribers'))
        if (status === 'blocklisted') yield { email, reason: 'manual', at: timeOf(updated_at) }
      for await (const { email, type, created_at } of all(api, bounce, '/api/bounces')) {
        const reason = reasonOf(type)
        if (reason) yield { email, reason, at: timeOf(created_at) }
      }
    },
    async *templates() {
      for (const { id, name, type, subject, body } of (await api.get(templates, '/api/templates')).data) {
        const texts = { subject: subject || null, html: body || null, text: null }
        yield {
          id: String(id),
          name,
          alias: null,
          from: null,
          replyTo: [],
          variables: [],
          isPublished: type === 'tx',
          ...translated(texts, translateTag),
        }
      }
    },
    async *contacts() {
      for await (const { id, name, optin } of all(api, list, '/api/lists')) {
        yield { list: name, contacts: [] }
        for await (const found of all(api, subscriber, `/api/subscribers?list_id=${id}`)) {
          const status = found.lists?.find(each => each.id === id)?.subscription_status
          const hasLeft = status === 'unsubscribed' || (optin === 'double' && status !== 'confirmed')
          yield { list: name, contacts: [contactOf(found, hasLeft)] }
        }
      }
      for await (const found of all(api, subscriber, '/api/subscribers'))
        if ((found.lists ?? []).length === 0)
          yield { list: WITHOUT_LIST, contacts: [contactOf(found, false)] }
    },
  }
}

/** Pages have numbers from 1. */
function all<S extends z.ZodType>(api: Api, item: S, path: string): AsyncGenerator<z.output<S>> {
  const schema = z.object({ data: z.object({ results: z.array(item).nullish(), total: z.number() }) })
  const query = `${path.includes('?') ? '&' : '?'}per_page=${PAGE}&order_by=id&order=asc&page=`
  let page = 0
  return byOffset(async () => {
    const { data } = await api.get(schema, path + query + ++page)
    return { items: (data.results ?? []) as z.output<S>[], total: data.total }
  })
}

function contactOf({ email, name, status, attribs }: Subscriber, hasLeft: boolean): SourceContact {
  return {
    email,
    ...namesIn(name),
    unsubscribed: hasLeft || (status !== null && status !== undefined && status !== 'enabled'),
    properties: attribs ?? {},
  }
}

/** Soft bounces do not stop mail. */
function reasonOf(type: string | null | undefined): SourceSuppression['reason'] | undefined {
  if (type === 'hard') return 'bounce'
  return type === 'complaint' ? 'complaint' : undefined
}

const FIELDS: Readonly<Record<string, string>> = {
  'Subscriber.Email': 'EMAIL',
  'Subscriber.FirstName': 'FIRST_NAME',
  'Subscriber.LastName': 'LAST_NAME',
}
/** A variable of Go templates, with or without the marks that remove blanks. */
const VARIABLE = /^-?\s*\.([\w.]+)\s*-?$/

const translateTag: TranslateTag = inner => {
  if (/^-?\s*(?:UnsubscribeURL|ManageURL)\b(?:\s+\.)?\s*-?$/.test(inner))
    return placeholder('UNSUBSCRIBE_URL', false)
  const [, path] = VARIABLE.exec(inner) ?? []
  if (path === undefined) return undefined
  const field = FIELDS[path] ?? /^(?:Tx\.Data|Subscriber\.Attribs)\.([\w.]+)$/.exec(path)?.[1]
  return field && placeholder(field, false)
}
