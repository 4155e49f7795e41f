/**
 * Rules for the texts of templates: size limits, which ensure that every stored template compiles and renders
 * quickly, and no tags of other template languages.
 */
import { compileTemplate, type EmailText } from './compile.ts'
import { PLACEHOLDERS_MAX } from './parse.ts'
import { unsupportedTag } from './unsupported.ts'

export const TEMPLATE_NAME_LENGTH_MAX = 200
/** Limit for html and for text. */
export const TEMPLATE_BYTES_MAX = 4 * 1024 * 1024
/** Limit for rendered subject, html and text together. */
export const RENDERED_CHARACTERS_MAX = 10 * 1024 * 1024
/** Exceeds what a broadcast can produce from its texts and the longest values of a contact. */
export const PERSONAL_CHARACTERS_MAX = 2 * RENDERED_CHARACTERS_MAX
export const VARIABLES_MAX = 500
/** Limit for the declared variables of a template as JSON. */
export const DECLARED_BYTES_MAX = 256 * 1024

export interface TemplateFault {
  part: keyof EmailText
  /** Clause that follows the name of the part. */
  fault: string
}

/** @returns the first tag that is not supported, or undefined */
export function tagFault(texts: EmailText): TemplateFault | undefined {
  for (const part of ['subject', 'html', 'text'] as const) {
    const tag = unsupportedTag(texts[part] ?? '')
    if (tag) return { part, fault: tag.fault }
  }
  return undefined
}

/** @returns the limit that the texts exceed as a template, or undefined */
export function templateFault(texts: EmailText): TemplateFault | undefined {
  for (const part of ['html', 'text'] as const)
    if (Buffer.byteLength(texts[part] ?? '') > TEMPLATE_BYTES_MAX)
      return { part, fault: `must contain at most ${TEMPLATE_BYTES_MAX} bytes` }
  const template = compileTemplate(texts)
  for (const part of ['subject', 'html', 'text'] as const) {
    const holes = template[part]?.holes ?? []
    if (holes.length > PLACEHOLDERS_MAX)
      return { part, fault: `must contain at most ${PLACEHOLDERS_MAX} variables` }
    if (holes.some(({ variable }) => variable >= VARIABLES_MAX))
      return { part, fault: `must contain at most ${VARIABLES_MAX} different variables` }
  }
  return undefined
}
