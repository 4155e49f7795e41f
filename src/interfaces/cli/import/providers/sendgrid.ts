/**
 * Reads an account of SendGrid. Global unsubscribes stop all mail there and become suppressions; those of a
 * group become unsubscribed contacts of a list with the name of the group.
 */
import { parse } from 'csv-parse/sync'
import * as z from 'zod'
import { type Clock, sleep } from '../../../../lib/clock.ts'
import { type Api, ApiFailure, byOffset, download } from '../api.ts'
import { placeholder, type TranslateTag, translated } from '../placeholders.ts'
import { type ImportSource, leftContact, type SourceContact, type SourceSuppression } from '../shapes.ts'

const PAGE = 500
const TEMPLATES_PAGE = 200
const LISTS_PAGE = 100
/** Exports of contacts take from seconds to some minutes. */
const EXPORT_WAIT_MS = 5_000
const EXPORT_TRIES_MAX = 360

const domains = z.array(z.object({ domain: z.string() }))
const entries = z.array(z.object({ email: z.string(), created: z.number().nullish() }))
const groups = z.array(z.object({ id: z.number(), name: z.string() }))
const addresses = z.array(z.string())
const metadata = z.object({ next: z.string().nullish() }).nullish()
const lists = z.object({
  result: z.array(z.object({ id: z.string(), name: z.string() })),
  _metadata: metadata,
})
const exported = z.object({ id: z.string() })
const exportState = z.object({
  status: z.string(),
  urls: z.array(z.string()).nullish(),
  message: z.string().nullish(),
})
const templates = z.object({
  result: z.array(z.object({ id: z.string(), name: z.string(), generation: z.string().nullish() })),
  _metadata: metadata,
})
const templateDetails = z.object({
  versions: z.array(
    z.object({
      active: z.number(),
      subject: z.string().nullish(),
      html_content: z.string().nullish(),
      plain_content: z.string().nullish(),
    }),
  ),
})
const webhooks = z.object({ webhooks: z.array(z.looseObject({ url: z.string() })) })

const REASONS = [
  ['bounces', 'bounce'],
  ['invalid_emails', 'bounce'],
  ['spam_reports', 'complaint'],
  ['unsubscribes', 'manual'],
] as const
const EVENTS: Readonly<Record<string, readonly string[]>> = {
  processed: ['email.sent'],
  delivered: ['email.delivered'],
  deferred: ['email.delivery_delayed'],
  bounce: ['email.bounced'],
  dropped: ['email.suppressed', 'email.failed'],
  open: ['email.opened'],
  click: ['email.clicked'],
  spam_report: ['email.complained'],
  unsubscribe: [],
  group_unsubscribe: [],
  group_resubscribe: [],
}
/** Columns of exports that are fields, or say nothing about the contact. */
const OWN_COLUMNS = new Set([
  ...['EMAIL', 'FIRST_NAME', 'LAST_NAME', 'ALTERNATE_EMAILS'],
  ...['CREATED_AT', 'UPDATED_AT', 'CONTACT_ID'],
])
const WITHOUT_LIST = 'SendGrid contacts without a list'

export function sendgridSource(api: Api, clock: Clock): ImportSource {
  return {
    async *domains() {
      for await (const { domain: name } of all(api, domains, '/v3/whitelabel/domains')) yield { name }
    },
    suppressions: () => suppressionsOf(api),
    templates: () => templatesOf(api),
    contacts: () => contactsOf(api, clock),
    webhooks: () => webhooksOf(api),
  }
}

/** Lists of SendGrid end with a page that is not full. */
function all<T>(api: Api, schema: z.ZodType<T[]>, path: string): AsyncGenerator<T> {
  return byOffset(async offset => {
    const items = await api.get(schema, `${path}?limit=${PAGE}&offset=${offset}`)
    return { items, total: Number.POSITIVE_INFINITY }
  })
}

async function* suppressionsOf(api: Api): AsyncGenerator<SourceSuppression> {
  for (const [list, reason] of REASONS)
    for await (const { email, created } of all(api, entries, `/v3/suppression/${list}`))
      yield { email, reason, at: created ? created * 1_000 : null }
}

async function* templatesOf(api: Api) {
  const first = `/v3/templates?generations=legacy,dynamic&page_size=${TEMPLATES_PAGE}`
  for (let path: string | null | undefined = first; path; ) {
    const page: z.output<typeof templates> = await api.get(templates, path)
    for (const { id, name, generation } of page.result) {
      const { versions } = await api.get(templateDetails, `/v3/templates/${id}`)
      const active = versions.find(version => version.active === 1) ?? versions[0]
      const texts = {
        subject: active?.subject || null,
        html: active?.html_content || null,
        text: active?.plain_content || null,
      }
      const { untranslated, ...content } = translated(texts, translateTag)
      const isLegacy = generation === 'legacy'
      const faults = isLegacy
        ? ['it is a legacy template, whose substitution tags cannot be told from text']
        : untranslated
      yield {
        id,
        name,
        alias: null,
        from: null,
        replyTo: [],
        variables: [],
        isPublished: true,
        ...content,
        untranslated: active ? faults : ['it has no version'],
      }
    }
    path = page._metadata?.next
  }
}

const INSERT = /^insert\s+([\w.]+)(?:\s+"default=([^"]*)")?$/

const translateTag: TranslateTag = (inner, raw) => {
  if (inner === 'unsubscribe' || inner === 'unsubscribe_preferences')
    return placeholder('UNSUBSCRIBE_URL', raw)
  const [, name, fallback = null] = INSERT.exec(inner) ?? []
  return name && placeholder(name, raw, fallback)
}

async function* contactsOf(api: Api, clock: Clock) {
  const left = new Set<string>()
  for await (const { email } of all(api, entries, '/v3/suppression/unsubscribes'))
    left.add(email.toLowerCase())
  const inLists = new Set<string>()
  const read = async (listIds: readonly string[]) => {
    const contacts = await exportOf(api, clock, listIds)
    return contacts.map(contact =>
      left.has(contact.email.toLowerCase()) ? { ...contact, unsubscribed: true } : contact,
    )
  }
  for (let path: string | null | undefined = `/v3/marketing/lists?page_size=${LISTS_PAGE}`; path; ) {
    const page: z.output<typeof lists> = await api.get(lists, path)
    for (const { id, name } of page.result) {
      const contacts = await read([id])
      for (const { email } of contacts) inLists.add(email)
      yield { list: name, contacts }
    }
    path = page._metadata?.next
  }
  const rest = (await read([])).filter(({ email }) => !inLists.has(email))
  if (rest.length > 0) yield { list: WITHOUT_LIST, contacts: rest }
  for (const { id, name } of await api.get(groups, '/v3/asm/groups')) {
    const gone = await api.get(addresses, `/v3/asm/groups/${id}/suppressions`)
    if (gone.length > 0) yield { list: name, contacts: gone.map(leftContact) }
  }
}

/** Has a file made of the contacts of lists, or of all contacts, and reads it. */
async function exportOf(api: Api, clock: Clock, listIds: readonly string[]): Promise<SourceContact[]> {
  const body = { file_type: 'csv', ...(listIds.length > 0 && { list_ids: listIds }) }
  const { id } = await api.send(exported, 'POST', '/v3/marketing/contacts/exports', body)
  for (let tries = 0; ; tries++) {
    const { status, urls, message } = await api.get(exportState, `/v3/marketing/contacts/exports/${id}`)
    if (status === 'ready') {
      const contacts: SourceContact[] = []
      for (const url of urls ?? []) contacts.push(...contactsIn(await download('SendGrid', url)))
      return contacts
    }
    if (status !== 'pending' || tries === EXPORT_TRIES_MAX)
      throw new ApiFailure(`SendGrid could not export the contacts: ${message || status}`, null)
    await sleep(clock, EXPORT_WAIT_MS)
  }
}

function contactsIn(csv: string): SourceContact[] {
  const rows: Record<string, string>[] = parse(csv, { columns: true, bom: true, skip_empty_lines: true })
  return rows.map(row => ({
    email: row.EMAIL ?? '',
    firstName: row.FIRST_NAME || null,
    lastName: row.LAST_NAME || null,
    unsubscribed: false,
    properties: Object.fromEntries(
      Object.entries(row)
        .filter(([column]) => !OWN_COLUMNS.has(column))
        .map(([column, value]) => [column.toLowerCase(), value]),
    ),
  }))
}

async function* webhooksOf(api: Api) {
  const found = await api.get(webhooks, '/v3/user/webhooks/event/settings/all')
  for (const { url, ...settings } of found.webhooks) {
    const enabled = Object.keys(EVENTS).filter(name => settings[name] === true)
    yield {
      url,
      events: enabled.flatMap(name => EVENTS[name]!),
      unknownEvents: enabled.filter(name => EVENTS[name]!.length === 0),
    }
  }
}
