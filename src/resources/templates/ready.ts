/** Cache of compiled templates for sending. An unchanged template costs one point read per send. */
import { type Id, idKey } from '../../lib/ids.ts'
import type { Mailbox } from '../../protocols/smtp/address.ts'
import type { Find } from '../../store/reading/read.ts'
import { parseStoredMailboxes } from '../emails/email-rows.ts'
import { type CompiledTemplate, compileTemplate, type EmailText } from './compile.ts'
import { type DeclaredVariable, parseDeclared } from './declared.ts'
import {
  findSentState,
  type LiveTemplate,
  readTemplate,
  sentState,
  type TemplateRef,
} from './template-rows.ts'
import { unsupportedTag } from './unsupported.ts'

/** Returns undefined if the account has no such template. All parts are from one state of the template. */
export type FindReadyTemplate = (accountId: Id, ref: TemplateRef) => Promise<ReadyTemplate | undefined>

export interface ReadyTemplate extends CompiledTemplate {
  id: Id
  /** Undefined if the template has no sender. */
  from: Mailbox | undefined
  replyTo: Mailbox[]
  declared: DeclaredVariable[]
  /** Keys of the values that the template or its declarations have a variable for. */
  valueKeys: ReadonlySet<string>
  /** Faults of templates that were stored before the rule existed, by part. */
  faults: Partial<Record<keyof EmailText, string>>
}

interface Cached {
  /** State of the template, whose content never changes. */
  state: number
  template: ReadyTemplate
  characters: number
}

const CACHE_CHARACTERS_MAX = 8 * 1024 * 1024
const TEMPLATE_CHARACTERS_MAX = 1024 * 1024
/** Estimated memory of a placeholder beyond its text, in characters. */
const PLACEHOLDER_CHARACTERS = 100

export function createReadyTemplates(find: Find): FindReadyTemplate {
  /** Least recently used first. */
  const cache = new Map<string, Cached>()
  let total = 0

  const drop = (key: string) => {
    total -= cache.get(key)?.characters ?? 0
    cache.delete(key)
  }
  const keep = (key: string, entry: Cached) => {
    drop(key)
    if (entry.characters > TEMPLATE_CHARACTERS_MAX) return
    cache.set(key, entry)
    total += entry.characters
    for (const oldest of cache.keys()) {
      if (total <= CACHE_CHARACTERS_MAX) return
      drop(oldest)
    }
  }

  return async (accountId, ref) => {
    const row = await findSentState(find, accountId, ref)
    if (!row) {
      if (!('alias' in ref)) drop(idKey(accountId) + idKey(ref))
      return undefined
    }
    const key = idKey(accountId) + idKey(row.id)
    const known = cache.get(key)
    if (known?.state === sentState(row)) {
      keep(key, known)
      return known.template
    }
    const stored = await readTemplate(find, accountId, row.id)
    if (!stored) {
      drop(key)
      return undefined
    }
    const template = readyTemplate(stored)
    keep(key, { state: stored.state, template, characters: sizeOf(stored, template) })
    return template
  }
}

function readyTemplate(stored: LiveTemplate): ReadyTemplate {
  const compiled = compileTemplate(stored)
  const declared = parseDeclared(stored.variables)
  return {
    ...compiled,
    id: stored.id,
    from: parseStoredMailboxes(stored.sender)[0],
    replyTo: parseStoredMailboxes(stored.replyToList),
    declared,
    valueKeys: new Set([
      ...compiled.variables.map(({ path }) => path[0]!),
      ...declared.map(({ key }) => key.split('.')[0]!),
    ]),
    faults: faultsOf(stored),
  }
}

function faultsOf(texts: EmailText): ReadyTemplate['faults'] {
  const faults: ReadyTemplate['faults'] = {}
  for (const part of ['subject', 'html', 'text'] as const) {
    const tag = unsupportedTag(texts[part] ?? '')
    if (tag) faults[part] = tag.fault
  }
  return faults
}

function sizeOf({ subject, html, text, variables }: LiveTemplate, template: CompiledTemplate): number {
  const placeholders = [template.subject, template.html, template.text].flatMap(part => part?.holes ?? [])
  const letters =
    (subject?.length ?? 0) + (html?.length ?? 0) + (text?.length ?? 0) + (variables?.length ?? 0)
  return letters + placeholders.length * PLACEHOLDER_CHARACTERS
}
