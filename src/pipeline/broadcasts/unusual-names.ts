/** Keys of properties that do not look like names of variables, such as `Company/Team`, in braces. Pure. */
import { keyFault } from '../../resources/contacts/properties.ts'
import type { EmailText } from '../../resources/templates/compile.ts'
import { parseText, writeText } from '../../resources/templates/parse.ts'
import { propertyOf } from '../../resources/templates/variables.ts'

/** What a broadcast says, as it is written. */
export interface NameTexts extends EmailText {
  previewText: string | null
}

export function mayBeKey(text: string): boolean {
  return keyFault(propertyOf(text)) === undefined
}

/** The same words, with these names written so that all who parse them find them. */
export function withNames<W extends NameTexts>(words: W, isName: (text: string) => boolean): W {
  const marked = (text: string) => {
    const parsed = parseText(text, isName)
    return parsed.placeholders.some(({ verbatim }) => verbatim) ? writeText(parsed) : text
  }
  const { subject, html, text, previewText } = words
  return {
    ...words,
    subject: subject && marked(subject),
    html: html && marked(html),
    text: text && marked(text),
    previewText: previewText && marked(previewText),
  }
}

/** All that would be keys, if contacts had them; each once. */
export function unusualKeys({ subject, html, text, previewText }: NameTexts): string[] {
  const places = [subject, html, text, previewText].flatMap(
    part => parseText(part ?? '', mayBeKey).placeholders,
  )
  const names = places.filter(({ verbatim }) => verbatim).map(({ name }) => name)
  return [...new Set(names.flatMap(name => [name, propertyOf(name)]))]
}
