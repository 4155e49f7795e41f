/** Checks the content of a broadcast, and derives the content that its emails share. Pure. */

import type { Content } from '../../resources/emails/content.ts'
import { type CompiledTemplate, compileTemplate } from '../../resources/templates/compile.ts'
import { type TemplateFault, templateFault } from '../../resources/templates/limits.ts'
import { parseText } from '../../resources/templates/parse.ts'
import { builtInOf, isEmailVariable } from '../../resources/templates/variables.ts'
import { withPreheader } from './preheader.ts'
import { mayBeKey, type NameTexts, withNames } from './unusual-names.ts'

export const PREVIEW_LENGTH_MAX = 500
/**
 * Number of placeholders in subject, HTML and text together. With the longest values, the email still fits
 * the size limit.
 */
export const PLACEHOLDERS_MAX = 1_000

/** Returns the first fault of the content; undefined when there is none. */
export function contentFault(content: NameTexts): TemplateFault | undefined {
  const tooLarge = templateFault(content)
  if (tooLarge) return tooLarge
  // the properties of the contacts are known only when the broadcast is sent
  const named = withNames(content, mayBeKey)
  const template = compileTemplate(named)
  const inParts = [template.subject, template.html, template.text].flatMap(part => part?.holes ?? [])
  const inPreview = named.html === null ? [] : parseText(named.previewText ?? '').placeholders
  if (inParts.length + inPreview.length > PLACEHOLDERS_MAX)
    return {
      part: content.html === null ? 'text' : 'html',
      fault: `and the other fields must contain at most ${PLACEHOLDERS_MAX} variables in total`,
    }
  const inSubject = template.subject?.holes.map(({ variable }) => template.variables[variable]!.name) ?? []
  if (inSubject.some(name => builtInOf(name) === 'unsubscribe_url'))
    return { part: 'subject', fault: 'must not contain the unsubscribe link' }
  if (inSubject.some(name => builtInOf(name) === 'view_in_browser_url'))
    return { part: 'subject', fault: 'must not contain the link to the email' }
  return undefined
}

/** Returns the content shared by all emails, with the preview text inserted. */
export function contentToSend({
  html,
  text,
  previewText,
}: Content & { previewText: string | null }): Content {
  return { html: html === null || previewText === null ? html : withPreheader(html, previewText), text }
}

/** Variables whose values each email stores; null when all emails are the same. */
export function storedVariables(content: Content): string[] | null {
  const { variables } = compileTemplate({ subject: null, ...content })
  return variables.length === 0
    ? null
    : variables.map(({ name }) => name).filter(name => !isEmailVariable(builtInOf(name)))
}

export function compiledSubject(subject: string): CompiledTemplate {
  return compileTemplate({ subject, html: null, text: null })
}
