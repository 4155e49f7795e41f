/**
 * Reads a server of Postmark. Domains belong to the account, and need its token. Postmark has no contacts:
 * recipients who unsubscribed from a broadcast stream become unsubscribed contacts of a list with its name.
 */
import * as z from 'zod'
import { type Api, byOffset } from '../api.ts'
import { placeholder, type TranslateTag, translated } from '../placeholders.ts'
import { type ImportSource, leftContact, type SourceSuppression, timeOf } from '../shapes.ts'

const PAGE = 300

const domains = z.object({ TotalCount: z.number(), Domains: z.array(z.object({ Name: z.string() })) })
const streams = z.object({
  MessageStreams: z.array(
    z.object({ ID: z.string(), Name: z.string().nullish(), MessageStreamType: z.string().nullish() }),
  ),
})
const dump = z.object({
  Suppressions: z.array(
    z.object({
      EmailAddress: z.string(),
      SuppressionReason: z.string().nullish(),
      CreatedAt: z.string().nullish(),
    }),
  ),
})
const templates = z.object({
  TotalCount: z.number(),
  Templates: z.array(z.object({ TemplateId: z.number(), TemplateType: z.string().nullish() })),
})
const templateDetails = z.object({
  TemplateId: z.number(),
  Name: z.string(),
  Alias: z.string().nullish(),
  Subject: z.string().nullish(),
  HtmlBody: z.string().nullish(),
  TextBody: z.string().nullish(),
  LayoutTemplate: z.string().nullish(),
})
const trigger = z.object({ Enabled: z.boolean().nullish() }).nullish()
const webhooks = z.object({
  Webhooks: z.array(z.object({ Url: z.string(), Triggers: z.record(z.string(), trigger).nullish() })),
})

const EVENTS = new Map([
  ['Open', 'email.opened'],
  ['Click', 'email.clicked'],
  ['Delivery', 'email.delivered'],
  ['Bounce', 'email.bounced'],
  ['SpamComplaint', 'email.complained'],
])
const CONTENT = /\{\{\{\s*@content\s*\}\}\}/g

export function postmarkSource(server: Api, account: Api | undefined): ImportSource {
  return {
    ...(account && { domains: () => domainsOf(account) }),
    async *suppressions() {
      for await (const stream of streamsOf(server))
        for (const entry of stream.entries) if (!isUnsubscription(stream, entry)) yield entry
    },
    templates: () => templatesOf(server),
    async *contacts() {
      for await (const stream of streamsOf(server)) {
        const left = stream.entries.filter(entry => isUnsubscription(stream, entry))
        if (left.length > 0)
          yield {
            list: stream.name,
            contacts: left.map(({ email }) => leftContact(email)),
          }
      }
    },
    webhooks: () => webhooksOf(server),
    notes: async () =>
      account ? [] : ['Domains: they belong to the account; set POSTMARK_ACCOUNT_TOKEN to import them.'],
  }
}

async function* domainsOf(account: Api) {
  const page = async (offset: number) => {
    const reply = await account.get(domains, `/domains?count=${PAGE}&offset=${offset}`)
    return { items: reply.Domains, total: reply.TotalCount }
  }
  for await (const { Name: name } of byOffset(page)) yield { name }
}

interface Stream {
  name: string
  isBroadcast: boolean
  entries: SourceSuppression[]
}

async function* streamsOf(server: Api): AsyncGenerator<Stream> {
  const { MessageStreams } = await server.get(streams, '/message-streams')
  for (const { ID: id, Name: name, MessageStreamType: type } of MessageStreams) {
    if (type === 'Inbound') continue
    const { Suppressions } = await server.get(
      dump,
      `/message-streams/${encodeURIComponent(id)}/suppressions/dump`,
    )
    const entries = Suppressions.map(({ EmailAddress, SuppressionReason, CreatedAt }) => ({
      email: EmailAddress,
      reason: reasonOf(SuppressionReason),
      at: timeOf(CreatedAt),
    }))
    yield { name: name || id, isBroadcast: type === 'Broadcasts', entries }
  }
}

/** A suppression here stops all mail of the account, so one that concerns a single newsletter is none. */
function isUnsubscription({ isBroadcast }: Stream, { reason }: SourceSuppression): boolean {
  return isBroadcast && reason === 'manual'
}

function reasonOf(reason: string | null | undefined): SourceSuppression['reason'] {
  if (reason === 'HardBounce') return 'bounce'
  return reason === 'SpamComplaint' ? 'complaint' : 'manual'
}

async function* templatesOf(server: Api) {
  const layouts = new Map<string, z.output<typeof templateDetails>>()
  const details = (ref: string | number) =>
    server.get(templateDetails, `/templates/${encodeURIComponent(ref)}`)
  const page = async (offset: number) => {
    const reply = await server.get(templates, `/templates?count=${PAGE}&offset=${offset}`)
    return { items: reply.Templates, total: reply.TotalCount }
  }
  for await (const { TemplateId: id, TemplateType: type } of byOffset(page)) {
    if (type === 'Layout') continue
    const found = await details(id)
    const alias = found.LayoutTemplate
    if (alias && !layouts.has(alias)) layouts.set(alias, await details(alias))
    const layout = alias ? layouts.get(alias) : undefined
    const texts = {
      subject: found.Subject || null,
      html: within(layout?.HtmlBody, found.HtmlBody),
      text: within(layout?.TextBody, found.TextBody),
    }
    yield {
      id: String(id),
      name: found.Name,
      alias: found.Alias || null,
      from: null,
      replyTo: [],
      variables: [],
      isPublished: true,
      ...translated(texts, translateTag),
    }
  }
}

/** Puts the content of a template into its layout. */
function within(layout: string | null | undefined, content: string | null | undefined): string | null {
  if (!content) return null
  return layout ? layout.replaceAll(CONTENT, () => content) : content
}

const translateTag: TranslateTag = (inner, _raw, part) => {
  const url = placeholder('UNSUBSCRIBE_URL', false)
  if (inner === 'pm:unsubscribe_url') return url
  if (inner !== 'pm:unsubscribe') return undefined
  return part === 'html' ? `<a href="${url}">Unsubscribe</a>` : url
}

/** A URL may have a webhook for each stream; here it is one. */
async function* webhooksOf(server: Api) {
  const { Webhooks } = await server.get(webhooks, '/webhooks')
  const triggers = Map.groupBy(Webhooks, ({ Url }) => Url)
  for (const [url, hooks] of triggers) {
    const enabled = new Set(
      hooks.flatMap(({ Triggers }) =>
        Object.entries(Triggers ?? {}).flatMap(([name, trigger]) => (trigger?.Enabled ? name : [])),
      ),
    )
    yield {
      url,
      events: [...enabled].flatMap(name => EVENTS.get(name) ?? []),
      unknownEvents: [...enabled].filter(name => !EVENTS.has(name)),
    }
  }
}
