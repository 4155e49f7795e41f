/**
 * Derives the text part of an email whose sender has given HTML alone; an empty text opts out of it. The text
 * of a broadcast is derived once, with its placeholders, and filled for each recipient like a given one.
 *
 * In: content without tracking. Out: content or template with a text. Called by `composed.ts`.
 */
import { FairTurns } from '../../../lib/fair-turns.ts'
import { textPartOf } from '../../../protocols/mime/html/text-part.ts'
import type { Content } from '../../../resources/emails/content.ts'
import type { CompiledTemplate, CompiledText, Hole } from '../../../resources/templates/compile.ts'
import type { Personal } from '../../../resources/templates/personal.ts'
import { findParts } from '../../tracking/find-links.ts'

interface TextDeriver {
  /**
   * Null if there is no text part. Large pages wait for the turn of their owner, so that the pages of one
   * account do not delay the mail of others.
   * @param owner account
   */
  textOf(content: Content, owner: string): string | null | Promise<string | null>
  /**
   * Adds a text to the template. Returns the same object if there is a text or none can be added, because the
   * values of this recipient may change the structure of the page.
   */
  withText(personal: Personal): Personal
}

interface DerivedTemplate {
  template: CompiledTemplate
  /** Placeholders that are the whole URL of a link in the text. */
  urls: Hole[]
}

/** A placeholder in the page: its index between two characters that occur in no mail. */
const MARK = /\ue000(\d+)\ue001/
const MARK_START = '\ue000'
const MARKUP = /[<>&"']/
/** Text before a value that could become a tag together with it, or decides whether an element is seen. */
const STRUCTURAL = /<\/?[a-z]*$|\b(?:style|class|id)\s*=\s*(?:"[^"<]*|'[^'<]*)$/i

/** Smaller pages take at most some milliseconds and are read at once. */
const LARGE_CHARACTERS = 32 * 1024

export function createTextDeriver(): TextDeriver {
  const byContent = new WeakMap<Content, string | null | Promise<string | null>>()
  const turns = new FairTurns()
  const byTemplate = new WeakMap<CompiledTemplate, DerivedTemplate | null>()
  return {
    textOf(content, owner) {
      const { html, text } = content
      if (text !== null || html === null) return text
      const known = byContent.get(content)
      if (known !== undefined) return known
      const derive = () => textPartOf(html) ?? null
      const derived = html.length < LARGE_CHARACTERS ? derive() : turns.run(owner, html.length, derive)
      byContent.set(content, derived)
      return derived
    },
    withText(personal) {
      const { template, values } = personal
      const { html, text } = template
      if (html === null || text !== null) return personal
      const known = byTemplate.get(template)
      const derived = known === undefined ? derivedTemplate(template, html) : known
      byTemplate.set(template, derived)
      if (!derived || !html.holes.every(hole => isPlain(hole, values))) return personal
      if (derived.urls.some(({ variable, fallback }) => !(values[variable] || fallback))) return personal
      return { template: derived.template, values }
    },
  }
}

/** Returns null if the text has to be derived for each recipient. */
function derivedTemplate(template: CompiledTemplate, html: CompiledText): DerivedTemplate | null {
  const { literals, holes } = html
  if (literals.some(literal => literal.includes(MARK_START))) return null
  if (literals.slice(0, -1).some(literal => STRUCTURAL.test(literal))) return null
  const numbers = new Map<string, number>()
  const marks = holes.map(({ variable, fallback }, i) => {
    const key = JSON.stringify([variable, fallback])
    const number = numbers.get(key) ?? i
    numbers.set(key, number)
    return `${MARK_START}${number}\ue001`
  })
  const page = literals.map((literal, i) => literal + (marks[i] ?? '')).join('')
  let plainHoles = 0
  findParts(page, (start, end) => {
    for (let at = page.indexOf(MARK_START, start); at >= 0 && at < end; at = page.indexOf(MARK_START, at + 1))
      plainHoles++
  })
  const text = plainHoles === holes.length ? textPartOf(page) : undefined
  if (text === undefined) return null
  const pieces = text.split(MARK)
  const textLiterals = pieces.filter((_, i) => i % 2 === 0)
  const textHoles = pieces
    .filter((_, i) => i % 2 === 1)
    .map(number => ({ ...holes[Number(number)]!, inHtml: false }))
  return {
    template: { ...template, text: { literals: textLiterals, holes: textHoles } },
    urls: textHoles.filter((_, i) => textLiterals[i]!.endsWith('(') && textLiterals[i + 1]!.startsWith(')')),
  }
}

/** Whether the HTML has the value of a placeholder as it is, escaped at most. */
function isPlain({ variable, fallback, inHtml }: Hole, values: Personal['values']): boolean {
  const value = values[variable]
  if (value === undefined || (value === '' && fallback !== null)) return !MARKUP.test(fallback ?? '')
  return inHtml || !MARKUP.test(value)
}
