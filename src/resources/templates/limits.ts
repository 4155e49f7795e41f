/** How large templates may be, so that every stored one compiles and renders quickly. */
import { compileTemplate, type EmailText } from './compile.ts'
import { MOST_PLACEHOLDERS } from './parse.ts'

export const LONGEST_TEMPLATE_NAME = 200
/** Of html, and of text. */
export const MOST_TEMPLATE_BYTES = 4 * 1024 * 1024
/** Of subject, html and text together, once rendered. */
export const MOST_RENDERED_CHARACTERS = 10 * 1024 * 1024
/** More than a broadcast can make of its words and the longest values of a contact. */
export const MOST_PERSONAL_CHARACTERS = 2 * MOST_RENDERED_CHARACTERS
const MOST_VARIABLES = 500

export interface TemplateFault {
  part: keyof EmailText
  /** To be put after the name of the part. */
  fault: string
}

/** What makes these texts too large for a template; undefined when nothing does. */
export function templateFault(texts: EmailText): TemplateFault | undefined {
  for (const part of ['html', 'text'] as const)
    if (Buffer.byteLength(texts[part] ?? '') > MOST_TEMPLATE_BYTES)
      return { part, fault: `has more than ${MOST_TEMPLATE_BYTES} bytes` }
  const template = compileTemplate(texts)
  for (const part of ['subject', 'html', 'text'] as const) {
    const holes = template[part]?.holes ?? []
    if (holes.length > MOST_PLACEHOLDERS)
      return { part, fault: `names variables more than ${MOST_PLACEHOLDERS} times` }
    if (holes.some(({ variable }) => variable >= MOST_VARIABLES))
      return { part, fault: `makes more than ${MOST_VARIABLES} different variables` }
  }
  return undefined
}
