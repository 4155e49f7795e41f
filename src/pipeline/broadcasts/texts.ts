/** The words of a broadcast: what they may hold, and what of them its emails say. Pure. */

import type { Content } from '../../resources/emails/content.ts'
import { type CompiledTemplate, compileTemplate } from '../../resources/templates/compile.ts'
import { type TemplateFault, templateFault } from '../../resources/templates/limits.ts'
import { parseText } from '../../resources/templates/parse.ts'
import { builtInOf, isEmailVariable } from '../../resources/templates/variables.ts'
import { withPreheader } from './preheader.ts'
import { mayBeKey, type NameTexts, withNames } from './unusual-names.ts'

export const NAME_LENGTH_MAX = 200
export const PREVIEW_LENGTH_MAX = 500
/**
 * In subject, html and text together: with the longest values of a contact they make no more than can be
 * sent.
 */
export const PLACEHOLDERS_MAX = 1_000

/** What makes these texts unfit for a broadcast; undefined when nothing does. */
export function wordsFault(words: NameTexts): TemplateFault | undefined {
  const tooLarge = templateFault(words)
  if (tooLarge) return tooLarge
  // which of them contacts have is known once it is sent
  const named = withNames(words, mayBeKey)
  const template = compileTemplate(named)
  const inParts = [template.subject, template.html, template.text].flatMap(part => part?.holes ?? [])
  const inPreview = named.html === null ? [] : parseText(named.previewText ?? '').placeholders
  if (inParts.length + inPreview.length > PLACEHOLDERS_MAX)
    return {
      part: words.html === null ? 'text' : 'html',
      fault: `and the others name variables more than ${PLACEHOLDERS_MAX} times together`,
    }
  const inSubject = template.subject?.holes.map(({ variable }) => template.variables[variable]!.name) ?? []
  if (inSubject.some(name => builtInOf(name) === 'unsubscribe_url'))
    return { part: 'subject', fault: 'must not contain the unsubscribe link' }
  return undefined
}

/** What all emails of the broadcast have in common. */
export function contentToSend({
  html,
  text,
  previewText,
}: Content & { previewText: string | null }): Content {
  return { html: html === null || previewText === null ? html : withPreheader(html, previewText), text }
}

/** Names whose values each email keeps; null where no email says anything of its own. */
export function namesKept(content: Content): string[] | null {
  const { variables } = compileTemplate({ subject: null, ...content })
  return variables.length === 0
    ? null
    : variables.map(({ name }) => name).filter(name => !isEmailVariable(builtInOf(name)))
}

/** The subject by itself, ready to be filled in. */
export function compiledSubject(subject: string): CompiledTemplate {
  return compileTemplate({ subject, html: null, text: null })
}
