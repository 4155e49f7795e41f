/** Reads an account of Resend, whose API the service speaks, too. */
import * as z from 'zod'
import { SUBSCRIBABLE_TYPES } from '../../../../resources/events/types.ts'
import { type Api, byCursor } from '../api.ts'
import { AS_IT_IS, translated } from '../placeholders.ts'
import { type ImportSource, type SourceContact, timeOf } from '../shapes.ts'

const id = z.string()
const domain = z.object({ id, name: z.string() })
const domainDetails = z.object({
  open_tracking: z.boolean().nullish(),
  click_tracking: z.boolean().nullish(),
  tls: z.string().nullish(),
})
const suppression = z.object({
  id,
  email: z.string(),
  origin: z.string().nullish(),
  created_at: z.string().nullish(),
})
const template = z.object({ id })
const templateDetails = z.object({
  id,
  name: z.string(),
  alias: z.string().nullish(),
  status: z.string().nullish(),
  from: z.string().nullish(),
  reply_to: z.union([z.string(), z.array(z.string())]).nullish(),
  subject: z.string().nullish(),
  html: z.string().nullish(),
  text: z.string().nullish(),
  variables: z.array(z.object({ key: z.string(), type: z.string(), fallback_value: z.unknown() })).nullish(),
})
const segment = z.object({ id, name: z.string() })
/** Some replies give values with their types. */
const property = z.union([
  z.object({ value: z.unknown(), type: z.string() }).transform(({ value }) => value),
  z.unknown(),
])
const contact = z.object({
  id,
  email: z.string(),
  first_name: z.string().nullish(),
  last_name: z.string().nullish(),
  unsubscribed: z.boolean().nullish(),
  properties: z.record(z.string(), property).nullish(),
})
const webhook = z.object({ id, endpoint: z.string(), events: z.array(z.string()).nullish() })
const topic = z.object({ id, name: z.string() })

const WITHOUT_SEGMENT = 'Resend contacts without a segment'

export function resendSource(api: Api): ImportSource {
  return {
    async *domains() {
      for await (const { id, name } of all(api, '/domains', domain)) {
        const { open_tracking, click_tracking, tls } = await api.get(domainDetails, `/domains/${id}`)
        yield {
          name,
          openTracking: open_tracking ?? undefined,
          clickTracking: click_tracking ?? undefined,
          enforcesTls: tls === 'enforced' ? true : undefined,
        }
      }
    },
    async *suppressions() {
      for await (const { email, origin, created_at } of all(api, '/suppressions', suppression))
        yield { email, reason: reasonOf(origin), at: timeOf(created_at) }
    },
    async *templates() {
      for await (const { id } of all(api, '/templates', template)) {
        const found = await api.get(templateDetails, `/templates/${id}`)
        const { subject = null, html = null, text = null } = found
        yield {
          id,
          name: found.name,
          alias: found.alias || null,
          from: found.from || null,
          replyTo: [found.reply_to ?? []].flat(),
          variables: (found.variables ?? []).map(({ key, type, fallback_value = null }) => ({
            key,
            type,
            fallback_value,
          })),
          isPublished: found.status === 'published',
          ...translated({ subject, html, text }, AS_IT_IS),
        }
      }
    },
    async *contacts() {
      const inSegments = new Set<string>()
      for await (const { id, name } of all(api, '/segments', segment))
        for await (const page of byCursor(api, `/contacts?segment_id=${id}`, contact)) {
          for (const { id } of page) inSegments.add(id)
          yield { list: name, contacts: page.map(contactOf) }
        }
      for await (const page of byCursor(api, '/contacts', contact)) {
        const rest = page.filter(({ id }) => !inSegments.has(id))
        if (rest.length > 0) yield { list: WITHOUT_SEGMENT, contacts: rest.map(contactOf) }
      }
    },
    async *webhooks() {
      const known = new Set<string>(SUBSCRIBABLE_TYPES)
      for await (const { endpoint: url, events } of all(api, '/webhooks', webhook))
        yield {
          url,
          events: (events ?? []).filter(type => known.has(type)),
          unknownEvents: (events ?? []).filter(type => !known.has(type)),
        }
    },
    async notes() {
      const names: string[] = []
      for await (const { name } of all(api, '/topics', topic)) names.push(name)
      return names.length === 0
        ? []
        : [
            `Topics (${names.join(', ')}) and who has left them: create the topics again, and import their subscriptions with \`topics\` of POST /contacts/imports before you send to them.`,
          ]
    },
  }
}

function contactOf({
  email,
  first_name,
  last_name,
  unsubscribed,
  properties,
}: z.output<typeof contact>): SourceContact {
  return {
    email,
    firstName: first_name || null,
    lastName: last_name || null,
    unsubscribed: unsubscribed === true,
    properties: properties ?? {},
  }
}

function reasonOf(origin: string | null | undefined) {
  return origin === 'bounce' || origin === 'complaint' ? origin : 'manual'
}

async function* all<S extends z.ZodType<{ id: string }>>(api: Api, path: string, item: S) {
  for await (const page of byCursor(api, path, item)) yield* page
}
