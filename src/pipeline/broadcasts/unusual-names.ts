/** Finds property keys in braces that do not look like variable names, such as `Company/Team`. Pure. */
import { keyFault } from '../../resources/contacts/properties.ts'
import type { EmailText } from '../../resources/templates/compile.ts'
import { parseText, writeText } from '../../resources/templates/parse.ts'
import { propertyOf } from '../../resources/templates/variables.ts'

/** The parts of a broadcast as written. */
export interface NameTexts extends EmailText {
  previewText: string | null
}

export function mayBeKey(text: string): boolean {
  return keyFault(propertyOf(text)) === undefined
}

/** Rewrites placeholders with these names so that the usual parser finds them. */
export function withNames<W extends NameTexts>(content: W, isName: (text: string) => boolean): W {
  const marked = (text: string) => {
    const parsed = parseText(text, isName)
    return parsed.placeholders.some(({ verbatim }) => verbatim) ? writeText(parsed) : text
  }
  const { subject, html, text, previewText } = content
  return {
    ...content,
    subject: subject && marked(subject),
    html: html && marked(html),
    text: text && marked(text),
    previewText: previewText && marked(previewText),
  }
}

/** Texts in braces that may be property keys, without duplicates. */
export function unusualKeys({ subject, html, text, previewText }: NameTexts): string[] {
  const placeholders = [subject, html, text, previewText].flatMap(
    part => parseText(part ?? '', mayBeKey).placeholders,
  )
  const names = placeholders.filter(({ verbatim }) => verbatim).map(({ name }) => name)
  return [...new Set(names.flatMap(name => [name, propertyOf(name)]))]
}
