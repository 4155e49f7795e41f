/**
 * Reads an account of Mailgun. Suppressions, templates and webhooks belong to a domain there and to the
 * account here. Unsubscribes from all mail of a domain become suppressions, those of a tag become
 * unsubscribed contacts of a list with its name.
 */
import * as z from 'zod'
import { type Api, byOffset } from '../api.ts'
import { AS_IT_IS, placeholder, translated } from '../placeholders.ts'
import { type ImportSource, leftContact, namesIn, type SourceSuppression, timeOf } from '../shapes.ts'

const PAGE = 100
const SUPPRESSIONS_PAGE = 1_000

const domains = z.object({
  total_count: z.number(),
  items: z.array(z.object({ name: z.string(), type: z.string().nullish() })),
})
const active = z.object({ active: z.union([z.boolean(), z.string()]).nullish() }).nullish()
const tracking = z.object({ tracking: z.object({ click: active, open: active }) })
const paging = z.object({ next: z.string().nullish() }).nullish()
const entry = z.object({
  address: z.string(),
  created_at: z.string().nullish(),
  tags: z.array(z.string()).nullish(),
})
const list = z.object({ address: z.string(), name: z.string().nullish() })
const member = z.object({
  address: z.string(),
  name: z.string().nullish(),
  subscribed: z.boolean().nullish(),
  vars: z.record(z.string(), z.unknown()).nullish(),
})
const template = z.object({ name: z.string() })
const templateDetails = z.object({
  template: z.object({
    name: z.string(),
    version: z
      .object({ template: z.string().nullish(), headers: z.record(z.string(), z.string()).nullish() })
      .nullish(),
  }),
})
const webhooks = z.object({
  webhooks: z.record(z.string(), z.object({ urls: z.array(z.string()).nullish() }).nullish()),
})

const EVENTS: Readonly<Record<string, readonly string[]>> = {
  accepted: ['email.sent'],
  delivered: ['email.delivered'],
  opened: ['email.opened'],
  clicked: ['email.clicked'],
  complained: ['email.complained'],
  permanent_fail: ['email.bounced', 'email.failed'],
  temporary_fail: ['email.delivery_delayed'],
}
const EVERY_TAG = '*'

export function mailgunSource(api: Api): ImportSource {
  return {
    async *domains() {
      for await (const name of domainsOf(api)) {
        const { click, open } = (await api.get(tracking, `/v3/domains/${name}/tracking`)).tracking
        yield { name, openTracking: isOn(open?.active), clickTracking: isOn(click?.active) }
      }
    },
    suppressions: () => suppressionsOf(api),
    templates: () => templatesOf(api),
    contacts: () => contactsOf(api),
    webhooks: () => webhooksOf(api),
  }
}

/** Click tracking may be on for HTML alone. */
function isOn(setting: string | boolean | null | undefined): boolean | undefined {
  return setting === null || setting === undefined ? undefined : setting !== false && setting !== 'no'
}

async function* domainsOf(api: Api): AsyncGenerator<string> {
  const page = async (skip: number) => {
    const { items, total_count: total } = await api.get(domains, `/v4/domains?limit=${PAGE}&skip=${skip}`)
    return { items, total }
  }
  for await (const { name, type } of byOffset(page)) if (type !== 'sandbox') yield name
}

/** Every page names the next one; the last page is empty. */
async function* all<S extends z.ZodType>(api: Api, item: S, first: string): AsyncGenerator<z.output<S>> {
  const schema = z.object({ items: z.array(item).nullish(), paging })
  for (let path: string | null | undefined = first; path; ) {
    const page: z.output<typeof schema> = await api.get(schema, path)
    const items = page.items ?? []
    yield* items
    path = items.length === 0 ? null : page.paging?.next
  }
}

const KINDS = [
  ['bounces', 'bounce'],
  ['complaints', 'complaint'],
  ['unsubscribes', 'manual'],
] as const

async function* suppressionsOf(api: Api): AsyncGenerator<SourceSuppression> {
  for await (const domain of domainsOf(api))
    for (const [kind, reason] of KINDS)
      for await (const { address, created_at, tags } of entriesOf(api, domain, kind))
        if (isForAllMail(tags)) yield { email: address, reason, at: timeOf(created_at) }
}

function entriesOf(api: Api, domain: string, kind: (typeof KINDS)[number][0]) {
  return all(api, entry, `/v3/${domain}/${kind}?limit=${SUPPRESSIONS_PAGE}`)
}

function isForAllMail(tags: readonly string[] | null | undefined): boolean {
  return !tags || tags.length === 0 || tags.includes(EVERY_TAG)
}

async function* contactsOf(api: Api) {
  for await (const { address, name } of all(api, list, `/v3/lists/pages?limit=${PAGE}`)) {
    const label = name || address
    yield { list: label, contacts: [] }
    const members = `/v3/lists/${encodeURIComponent(address)}/members/pages?limit=${PAGE}`
    for await (const { address: email, name, subscribed, vars } of all(api, member, members))
      yield {
        list: label,
        contacts: [{ email, ...namesIn(name), unsubscribed: subscribed === false, properties: vars ?? {} }],
      }
  }
  for await (const domain of domainsOf(api))
    for await (const { address, tags } of entriesOf(api, domain, 'unsubscribes'))
      for (const tag of isForAllMail(tags) ? [] : tags!) yield { list: tag, contacts: [leftContact(address)] }
}

async function* templatesOf(api: Api) {
  const aliases = new Set<string>()
  for await (const domain of domainsOf(api))
    for await (const { name } of all(api, template, `/v3/${domain}/templates?limit=${PAGE}`)) {
      const path = `/v3/${domain}/templates/${encodeURIComponent(name)}?active=yes`
      const { version } = (await api.get(templateDetails, path)).template
      const headers = new Map(
        Object.entries(version?.headers ?? {}).map(([key, value]) => [key.toLowerCase(), value]),
      )
      const texts = {
        subject: withRecipient(headers.get('subject')),
        html: withRecipient(version?.template),
        text: null,
      }
      const { untranslated, ...content } = translated(texts, AS_IT_IS)
      const alias = aliases.has(name) ? `${name}-${domain}` : name
      aliases.add(alias)
      yield {
        id: `${domain}-${name}`,
        name,
        alias,
        from: headers.get('from') || null,
        replyTo: [headers.get('reply-to') || []].flat(),
        variables: [],
        isPublished: true,
        ...content,
        untranslated: version ? untranslated : ['it has no active version'],
      }
    }
}

const RECIPIENT = /%recipient\.(\w+)%/g
const UNSUBSCRIBE = /%(?:tag_|mailing_list_)?unsubscribe_url%/g

/** Translates the variables in per cent signs, which stand beside those of Handlebars. */
function withRecipient(text: string | null | undefined): string | null {
  if (!text) return null
  return text
    .replaceAll(RECIPIENT, (_, name: string) => placeholder(name, false))
    .replaceAll(UNSUBSCRIBE, placeholder('UNSUBSCRIBE_URL', false))
}

/** A URL may have events of several domains; here it is one webhook. */
async function* webhooksOf(api: Api) {
  const byUrl = new Map<string, Set<string>>()
  for await (const domain of domainsOf(api)) {
    const found = await api.get(webhooks, `/v3/domains/${domain}/webhooks`)
    for (const [name, hook] of Object.entries(found.webhooks))
      for (const url of hook?.urls ?? []) byUrl.set(url, (byUrl.get(url) ?? new Set()).add(name))
  }
  for (const [url, names] of byUrl)
    yield {
      url,
      events: [...names].flatMap(name => EVENTS[name] ?? []),
      unknownEvents: [...names].filter(name => !EVENTS[name]),
    }
}
