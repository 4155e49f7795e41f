/** Translates the placeholders of other template languages, and names what has no translation. */
import { parseText, placeholderText } from '../../../resources/templates/parse.ts'
import { unsupportedTags } from '../../../resources/templates/unsupported.ts'

interface TemplateTexts {
  subject: string | null
  html: string | null
  text: string | null
}

/**
 * Returns the translation of the inside of a tag; undefined if the tag remains, and is judged by the rules of
 * our templates; null if it has no translation although it looks like a tag of ours.
 */
export type TranslateTag = (
  inner: string,
  raw: boolean,
  part: keyof TemplateTexts,
) => string | null | undefined

const TAG = /\{\{\{([^{}]*)\}\}\}|\{\{([^{}]*)\}\}/g
const NAMED_MAX = 20
const TAG_LENGTH_MAX = 60

/**
 * Translates every tag in braces.
 * @returns the texts, and the tags that would reach readers as they are or be refused
 */
export function translated<T extends TemplateTexts>(
  texts: T,
  translate: TranslateTag,
): TemplateTexts & { untranslated: string[] } {
  const untranslated: string[] = []
  const part = (name: keyof TemplateTexts) => {
    const source = texts[name]
    if (!source) return null
    const result = source.replaceAll(TAG, (tag, raw: string | undefined, escaped: string | undefined) => {
      const inner = (raw ?? escaped ?? '').trim()
      const translation = translate(inner, raw !== undefined, name)
      if (translation === null)
        untranslated.push(`${name} contains \`${tag.slice(0, TAG_LENGTH_MAX)}\`, which has no translation`)
      return translation ?? tag
    })
    untranslated.push(...foreignTags(result).map(tag => `${name} ${tag}`))
    return result
  }
  const result = { subject: part('subject'), html: part('html'), text: part('text') }
  return { ...result, untranslated }
}

/** Leaves tags as they are, for providers whose placeholders are written as ours. */
export const AS_IT_IS: TranslateTag = () => undefined

/** Writes a placeholder. */
export function placeholder(name: string, raw: boolean, fallback: string | null = null): string {
  return placeholderText({ name, raw, fallback, path: [], verbatim: false })
}

function foreignTags(text: string): string[] {
  const refused = unsupportedTags(text, NAMED_MAX).map(({ fault }) => fault)
  const names = [...text.matchAll(TAG)].filter(([tag]) => parseText(tag).placeholders.length === 0)
  const strange = names
    .filter(([tag]) => unsupportedTags(tag, 1).length === 0)
    .slice(0, NAMED_MAX)
    .map(([tag]) => `contains \`${tag.slice(0, TAG_LENGTH_MAX)}\`, which is no variable of a template`)
  return [...refused, ...strange]
}
