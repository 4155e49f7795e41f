/**
 * Calls every method of the newest resend package against a running service, and says of each whether it
 * works. A field that was accepted is sent again with a value that it cannot have: a field that is read is
 * then refused by name.
 */
import type { Resend } from 'resend'
import { CALLS, type MethodName, type SdkWorld } from './calls.ts'
import { leavesOf, nameOf, valueAt, withValueAt } from './paths.ts'
import { type Exchange, recordFetch, repeat } from './record.ts'
import { declaredMethods } from './surface.ts'

export interface MethodReport {
  name: string
  state: 'works' | 'partly' | 'refused'
  /** Describes what is refused or not honoured. */
  notes: string[]
  /** Fields that were accepted and not read. */
  silent: string[]
  /** Fields that the package declares and no call has. */
  untried: string[]
  /** Values that the package returned. */
  replies: unknown[]
}

/** Rendered to HTML by the package before it is sent. */
const RENDERED = /(?:^|\.)react$/
/** Fields whose values may be anything, and are stored or compared as they are. */
const FREE_VALUES = /^(?:\[\]\.)?(?:tags\[\]\.\w+|template\.variables\.\w+)$/
/** Narrows a list (`broadcasts.recipients`): any text may be looked for. */
const FREE_QUERY = 'email'
/** Repeats the id in the path (`topics.update`). */
const REPEATED_FIELD = 'id'

/** @param name such as `emails.receiving.get` */
function callMethod(resend: Resend, name: string, args: readonly unknown[]): unknown {
  const parts = name.split('.')
  const method = parts.pop()!
  // biome-ignore lint/suspicious/noExplicitAny: the name leads there
  const resource = parts.reduce((holder: any, part) => holder[part], resend)
  return resource[method](...args)
}

export async function walkSurface(world: SdkWorld): Promise<MethodReport[]> {
  const reports: MethodReport[] = []
  for (const { name, fields } of declaredMethods()) reports.push(await reportOf(world, name, fields))
  return reports
}

interface CallResult {
  args: readonly unknown[]
  /** Undefined where the call was refused. */
  reply?: unknown
  refusal?: string
  /** The last request; none where the package answered by itself. */
  exchange?: Exchange | undefined
}

async function reportOf(world: SdkWorld, name: string, fields: readonly string[]): Promise<MethodReport> {
  const calls = (await CALLS[name as MethodName](world)) as readonly (readonly unknown[])[]
  const results: CallResult[] = []
  for (const args of calls) results.push(await resultOf(world, name, args))
  const accepted = results.filter(({ refusal }) => refusal === undefined)
  const report: MethodReport = { name, state: 'works', notes: [], silent: [], untried: [], replies: [] }
  if (results[0]?.refusal !== undefined)
    return { ...report, state: 'refused', notes: [world.plain(results[0].refusal)] }
  const silent = await silentFields(accepted)
  const notes = [
    ...silent.map(field => `\`${field}\` is ignored`),
    ...accepted.flatMap(warningsOf),
    ...results.filter(({ refusal }) => refusal !== undefined).map(result => noteOf(result, accepted)),
  ].map(world.plain)
  return {
    ...{ name, state: notes.length > 0 ? 'partly' : 'works', notes: [...new Set(notes)], silent },
    untried: untriedOf(fields, calls),
    replies: accepted.map(({ reply }) => reply),
  }
}

async function resultOf({ resend }: SdkWorld, name: string, args: readonly unknown[]): Promise<CallResult> {
  const record = recordFetch()
  try {
    const answer = (await callMethod(resend, name, args)) as { data: unknown; error: Refusal | null }
    const exchange = record.exchanges.at(-1)
    // The verifier of signatures returns what it has verified.
    if (!('error' in answer)) return { args, reply: answer, exchange }
    const { data, error } = answer
    if (error) return { args, refusal: `${error.statusCode} \`${error.name}\` ${error.message}`, exchange }
    return { args, reply: data, exchange }
  } catch (error) {
    return { args, refusal: (error as Error).message }
  } finally {
    record.stop()
  }
}

interface Refusal {
  statusCode: number | null
  name: string
  message: string
}

function warningsOf({ reply }: CallResult): string[] {
  const { warnings = [] } = (reply ?? {}) as { warnings?: { path: string; message: string }[] }
  return warnings.map(({ path, message }) => `\`${path}\`: ${message}`)
}

/** Names the fields that no accepted call has. */
function noteOf({ refusal, exchange }: CallResult, accepted: readonly CallResult[]): string {
  const known = new Set(accepted.flatMap(result => (result.exchange ? wireFields(result.exchange) : [])))
  const fields = exchange ? wireFields(exchange).filter(field => !known.has(field)) : []
  const what = fields.length > 0 ? `with ${fields.map(field => `\`${field}\``).join(', ')}: ` : ''
  return `${what}${refusal}`
}

function wireFields({ body, url }: Exchange): string[] {
  const query = [...new URL(url).searchParams.keys()]
  return [...new Set([...query, ...leavesOf(body).map(nameOf)])]
}

function untriedOf(fields: readonly string[], calls: readonly (readonly unknown[])[]): string[] {
  const tried = calls.flatMap(args => args.flatMap(argument => leavesOf(argument).map(nameOf)))
  const isTried = (field: string) =>
    tried.some(name => name === field || name.startsWith(`${field}.`) || name.startsWith(`${field}[`))
  return fields.filter(field => !RENDERED.test(field) && !isTried(field))
}

/** Fields of the accepted requests that take any value without a word. */
async function silentFields(accepted: readonly CallResult[]): Promise<string[]> {
  const probed = new Set<string>()
  const silent: string[] = []
  for (const { exchange } of accepted) {
    if (!exchange) continue
    for (const probe of probesOf(exchange)) {
      if (probed.has(probe.field) || FREE_VALUES.test(probe.field)) continue
      probed.add(probe.field)
      if (!namesField(await repeat(exchange, probe), probe.field)) silent.push(probe.field)
    }
  }
  return silent
}

export interface Probe {
  field: string
  body?: unknown
  query?: URLSearchParams
}

function probesOf({ body, url }: Exchange): Probe[] {
  const { searchParams } = new URL(url)
  const parameters = [...searchParams.keys()].filter(field => field !== FREE_QUERY)
  const inQuery = parameters.map(field => {
    const query = new URLSearchParams(searchParams)
    query.set(field, 'no such value')
    return { field, query }
  })
  const paths = leavesOf(body).filter(
    path => nameOf(path) !== REPEATED_FIELD && !(valueAt(body, path) instanceof Blob),
  )
  const inBody = paths.map(path => ({
    field: nameOf(path),
    body: withValueAt(body, path, typeof valueAt(body, path) === 'object' ? 7 : { no: 'such value' }),
  }))
  return [...inQuery, ...inBody]
}

/** Whether the reply refuses the field by its name, or that of what it is part of, or warns about it. */
export function namesField(reply: { status: number; body: unknown }, field: string): boolean {
  const {
    message = '',
    errors = [],
    warnings = [],
  } = reply.body as {
    message?: string
    errors?: Fault[]
    warnings?: Fault[]
  }
  if (reply.status < 400 && errors.length === 0 && warnings.length === 0) return false
  const words = [message, ...[...errors, ...warnings].flatMap(fault => [fault.path ?? '', fault.message])]
  const names = field.split('.').map(part => part.replace('[]', ''))
  return words.some(text => names.some(name => new RegExp(`\\b${name}\\b`).test(text)))
}

interface Fault {
  /** Absent in a permissive batch, where it is the index of an email. */
  path?: string
  message: string
}
