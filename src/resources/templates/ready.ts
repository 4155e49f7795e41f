/** Cache of compiled templates for sending. An unchanged template costs one point read per send. */
import { type Id, idKey } from '../../lib/ids.ts'
import type { Find } from '../../store/read.ts'
import { type CompiledTemplate, compileTemplate, type EmailText } from './compile.ts'
import { readTemplate } from './template-rows.ts'
import { unsupportedTag } from './unsupported.ts'

/** Returns undefined if the account has no such template. All parts are from one state of the template. */
export type FindReadyTemplate = (accountId: Id, id: Id) => Promise<ReadyTemplate | undefined>

export interface ReadyTemplate extends CompiledTemplate {
  /** Faults of templates that were stored before the rule existed, by part. */
  faults: Partial<Record<keyof EmailText, string>>
}

interface Kept {
  contentId: number
  subject: string | null
  template: ReadyTemplate
  characters: number
}

const CACHE_CHARACTERS_MAX = 8 * 1024 * 1024
const TEMPLATE_CHARACTERS_MAX = 1024 * 1024
/** Estimated memory of a placeholder beyond its text, in characters. */
const PLACEHOLDER_CHARACTERS = 100

export function createReadyTemplates(find: Find): FindReadyTemplate {
  /** Least recently used first. */
  const kept = new Map<string, Kept>()
  let total = 0

  const drop = (key: string) => {
    total -= kept.get(key)?.characters ?? 0
    kept.delete(key)
  }
  const keep = (key: string, entry: Kept) => {
    drop(key)
    if (entry.characters > TEMPLATE_CHARACTERS_MAX) return
    kept.set(key, entry)
    total += entry.characters
    for (const oldest of kept.keys()) {
      if (total <= CACHE_CHARACTERS_MAX) return
      drop(oldest)
    }
  }

  return async (accountId, id) => {
    const key = idKey(accountId) + idKey(id)
    const [row] = await find('templates', [{ accountId, id }], ['subject', 'contentId'])
    const known = kept.get(key)
    if (row && known && known.contentId === row.contentId && known.subject === row.subject) {
      keep(key, known)
      return known.template
    }
    const stored = row && (await readTemplate(find, accountId, id))
    if (!stored) {
      drop(key)
      return undefined
    }
    const { contentId, subject } = stored
    const template = { ...compileTemplate(stored), faults: faultsOf(stored) }
    keep(key, { contentId, subject, template, characters: sizeOf(stored, template) })
    return template
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

function sizeOf({ subject, html, text }: EmailText, template: CompiledTemplate): number {
  const placeholders = [template.subject, template.html, template.text].flatMap(part => part?.holes ?? [])
  const letters = (subject?.length ?? 0) + (html?.length ?? 0) + (text?.length ?? 0)
  return letters + placeholders.length * PLACEHOLDER_CHARACTERS
}
