/** Aliases of templates: names that requests and paths may use in place of an id. */
import { parseWireId } from '../../lib/ids.ts'
import type { TemplateRef } from './template-rows.ts'

const ALIAS_LENGTH_MAX = 100
/** Characters that need no escaping in a path, because the SDKs insert aliases as they are. */
const ALIAS = /^[A-Za-z0-9_][A-Za-z0-9._~-]*$/
const ENDS_IN_UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** @returns what is wrong with an alias, as a predicate for a sentence that begins with its name */
export function aliasFault(alias: string): string | undefined {
  if (alias.length > ALIAS_LENGTH_MAX)
    return `must contain at most ${ALIAS_LENGTH_MAX} characters; got ${alias.length}`
  if (!ALIAS.test(alias))
    return 'must begin with a letter, a digit or `_` and consist of letters, digits, `_`, `-`, `.` and `~`'
  return ENDS_IN_UUID.test(alias) ? 'must not look like an id' : undefined
}

/** @returns undefined for a text that is neither an id nor a possible alias */
export function parseTemplateRef(text: string): TemplateRef | undefined {
  const id = parseWireId('tpl', text)
  if (id) return id
  return aliasFault(text) === undefined ? { alias: text } : undefined
}
