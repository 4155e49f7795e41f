/**
 * Puts what a provider has into the service, over its own API, so that every rule of the service applies.
 * Everything is found again by its name, address or URL, so that a second run makes nothing twice.
 */
import * as z from 'zod'
import { templateFault } from '../../../resources/templates/limits.ts'
import { type Api, ApiFailure, byCursor } from './api.ts'
import { createContactWriter } from './contact-writer.ts'
import type { ImportReport, WriterOptions } from './report.ts'
import type {
  Kind,
  SourceContacts,
  SourceDomain,
  SourceSuppression,
  SourceTemplate,
  SourceWebhook,
} from './shapes.ts'
import { createSuppressionWriter } from './suppression-writer.ts'

/** Stores everything of a kind. Throws ApiFailure if the rest of the kind cannot be stored. */
export interface Writer {
  domains(domains: AsyncIterable<SourceDomain>): Promise<void>
  suppressions(suppressions: AsyncIterable<SourceSuppression>): Promise<void>
  templates(templates: AsyncIterable<SourceTemplate>): Promise<void>
  contacts(contacts: AsyncIterable<SourceContacts>): Promise<void>
  webhooks(webhooks: AsyncIterable<SourceWebhook>): Promise<void>
}

const recordSchema = z.object({
  type: z.string(),
  host: z.string(),
  value: z.string(),
  priority: z.number().nullish(),
  status: z.string(),
})
const domainSchema = z.object({ id: z.string(), name: z.string(), records: z.array(recordSchema) })
const templateSchema = z.object({ id: z.string(), alias: z.string().nullable(), status: z.string() })
const webhookSchema = z.object({ id: z.string(), url: z.string() })

const ALIAS_LENGTH_MAX = 100
/** Statuses by which the service refuses one thing; others concern all of them. */
const REFUSALS = new Set([400, 409, 422])

export function createWriter(options: WriterOptions): Writer {
  return {
    domains: domains => writeDomains(options, domains),
    suppressions: createSuppressionWriter(options),
    templates: templates => writeTemplates(options, templates),
    contacts: createContactWriter(options),
    webhooks: webhooks => writeWebhooks(options, webhooks),
  }
}

/**
 * Makes one thing, or lists why the service refuses it. A dry run counts it as made.
 * @returns undefined if it was not made
 */
async function made<T>(
  { report, isDryRun }: WriterOptions,
  kind: Kind,
  name: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  if (isDryRun) {
    report.made(kind, name)
    return undefined
  }
  try {
    const result = await work()
    report.made(kind, name)
    return result
  } catch (error) {
    if (!(error instanceof ApiFailure) || !REFUSALS.has(error.status ?? 0)) throw error
    report.unmade(kind, name, refusalIn(error))
    return undefined
  }
}

/** Returns the sentence of the service, without the request that it answers. */
export function refusalIn({ body, message }: ApiFailure): string {
  return z.object({ message: z.string() }).safeParse(body).data?.message ?? message
}

async function writeDomains(options: WriterOptions, domains: AsyncIterable<SourceDomain>) {
  const { service, report, isDryRun } = options
  const there = await byName(service, '/domains', domainSchema, ({ name }) => name)
  for await (const source of domains) {
    const { openTracking, clickTracking, enforcesTls } = source
    const name = source.name.toLowerCase().replace(/\.$/, '')
    const former = there.get(name)
    if (former) report.exists('domains', name)
    const body = {
      name,
      ...(openTracking !== undefined && { open_tracking: openTracking }),
      ...(clickTracking !== undefined && { click_tracking: clickTracking }),
      ...(enforcesTls && { tls: 'enforced' }),
    }
    const domain =
      former ??
      (await made(options, 'domains', name, () => service.send(domainSchema, 'POST', '/domains', body)))
    noteFormerRecords(report, source, domain?.records ?? [])
    if (!domain) continue
    there.set(name, domain)
    for (const { type, host, value, priority = null, status } of domain.records)
      if (status !== 'verified') report.dns.push({ type, host, value, priority })
  }
  if (isDryRun && report.of('domains').madeCount > 0)
    report.of('domains').notes.push('The DNS records of a new domain are shown once it is made.')
}

/** Two records of a type at one name would disagree, so such a record is replaced and not added. */
function noteFormerRecords(
  report: ImportReport,
  { formerRecords = [] }: SourceDomain,
  records: readonly z.output<typeof recordSchema>[],
): void {
  const { title } = report
  const isTaken = (record: { type: string; host: string }) =>
    records.some(({ type, host }) => type === record.type && host === record.host)
  const taken = formerRecords.filter(isTaken)
  const others = formerRecords.filter(record => !isTaken(record))
  const named = (list: typeof taken) => list.map(({ type, host }) => `${type} ${host}`).join(', ')
  const { notes } = report.of('domains')
  if (taken.length > 0) notes.push(`replace these records of ${title}, add no second one: ${named(taken)}`)
  if (others.length > 0) notes.push(`once ${title} sends nothing more, remove: ${named(others)}`)
}

/** Returns an alias that is the same in each run. An alias of the service must not end in a UUID. */
function aliasOf({ alias, id }: SourceTemplate, provider: string): string {
  const wanted = alias ?? `${provider}-${id.replace(/[0-9a-f-]{36}$/i, uuid => uuid.replaceAll('-', ''))}`
  return wanted.replace(/[^\w.~-]/g, '-').slice(0, ALIAS_LENGTH_MAX)
}

async function writeTemplates(options: WriterOptions, templates: AsyncIterable<SourceTemplate>) {
  const { service, report, isDryRun, provider } = options
  const there = await byName(service, '/templates', templateSchema, ({ alias }) => alias)
  for await (const template of templates) {
    const { name, subject, html, text, untranslated } = template
    const alias = aliasOf(template, provider)
    const shown = `${name} (${alias})`
    const former = there.get(alias)
    if (former) {
      report.exists('templates', shown)
      // the run that made it was interrupted
      if (template.isPublished && former.status === 'draft' && !isDryRun) await publish(service, former.id)
      continue
    }
    const fault = untranslated.length === 0 ? templateFault({ subject, html, text }) : undefined
    if (untranslated.length > 0 || fault) {
      const reason = fault ? `${fault.part} ${fault.fault}` : untranslated.join('; ')
      report.unmade('templates', shown, reason)
      continue
    }
    const body = {
      name,
      alias,
      ...(subject !== null && { subject }),
      ...(html !== null && { html }),
      ...(text !== null && { text }),
      ...(template.from !== null && { from: template.from }),
      ...(template.replyTo.length > 0 && { reply_to: template.replyTo }),
      ...(template.variables.length > 0 && { variables: template.variables }),
    }
    const stored = await made(options, 'templates', shown, () =>
      service.send(templateSchema, 'POST', '/templates', body),
    )
    if (!stored) continue
    there.set(alias, stored)
    if (template.isPublished) await publish(service, stored.id)
  }
}

async function publish(service: Api, id: string): Promise<void> {
  await service.send(z.unknown(), 'POST', `/templates/${id}/publish`, {})
}

/** Webhooks are made disabled, because their receivers do not know the new secret yet. */
async function writeWebhooks(options: WriterOptions, webhooks: AsyncIterable<SourceWebhook>) {
  const { service, report } = options
  const there = await byName(service, '/webhooks', webhookSchema, ({ url }) => url)
  const kind = report.of('webhooks')
  for await (const { url, events, unknownEvents } of webhooks) {
    if (there.has(url)) {
      report.exists('webhooks', url)
      continue
    }
    if (events.length === 0) {
      report.unmade(
        'webhooks',
        url,
        `it has no event of this service (${unknownEvents.join(', ') || 'none'})`,
      )
      continue
    }
    if (unknownEvents.length > 0)
      kind.notes.push(`${url}: left out events that do not occur here: ${unknownEvents.join(', ')}`)
    const body = { url, events, enabled: false }
    const stored = await made(options, 'webhooks', url, () =>
      service.send(webhookSchema, 'POST', '/webhooks', body),
    )
    if (stored) there.set(url, stored)
  }
  if (kind.madeCount > 0)
    kind.notes.push(
      'New webhooks are disabled. Rotate the secret of each, give it to its receiver, then enable the webhook.',
    )
}

/** Reads everything of a kind that the account has, by its name. */
async function byName<S extends z.ZodType<{ id: string }>>(
  service: Api,
  path: string,
  schema: S,
  nameOf: (item: z.output<S>) => string | null,
): Promise<Map<string, z.output<S>>> {
  const found = new Map<string, z.output<S>>()
  for await (const page of byCursor(service, path, schema))
    for (const item of page) {
      const name = nameOf(item)
      if (name !== null) found.set(name, item)
    }
  return found
}
