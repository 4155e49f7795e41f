/**
 * Joins the bodies of a message to the text and the HTML that users see. Where bodies of both types follow
 * each other, the plain ones become HTML in their place, and the text has the text of the pages.
 */
import { htmlToText } from '../html/html-to-text.ts'
import { isHtml, type Structure } from './structure.ts'
import { type LeafText, textOfLeaf } from './text.ts'
import { encodedEnd } from './transfer.ts'
import { FAULTS, type Leaf, TEXT_CHARACTERS_MAX } from './walk.ts'

interface Bodies {
  /** Null if the message has no plain text. */
  text: string | null
  /** Null if the message has no HTML. */
  html: string | null
  faults: string[]
}

const TEXT_JOINT = '\n'
const HTML_JOINT = '<br>\n'
const PRE_START = '<pre style="white-space: pre-wrap">'
const PRE_END = '</pre>'
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/**
 * The limit applies to all texts of a message together, in their order, and then to those that stand in a
 * second list: a text is cut at the limit, and a text behind the limit is left out.
 */
export function bodiesOf(bytes: Buffer, { text, html }: Pick<Structure, 'text' | 'html'>): Bodies {
  const room = new Room()
  const read = new Map<Leaf, string>()
  const inOrder = [...new Set([...text, ...html])].sort((a, b) => a.start - b.start)
  for (const leaf of inOrder) {
    const own = room.take(max => textOfLeaf(bytes, { ...leaf, end: encodedEnd(bytes, leaf) }, max))
    if (own !== undefined) read.set(leaf, own)
  }
  const join = (list: readonly Leaf[], isOwn: (leaf: Leaf) => boolean, convert: Convert, joint: string) => {
    if (!list.some(leaf => isOwn(leaf) && read.has(leaf))) return null
    const pieces = list.map(leaf => {
      const own = read.get(leaf)
      if (own === undefined || isOwn(leaf)) return own
      return own.trim() === '' ? undefined : room.take(max => convert(own, max))
    })
    return pieces.filter(piece => piece !== undefined).join(joint)
  }
  return {
    text: join(text, leaf => !isHtml(leaf), plainOf, TEXT_JOINT),
    html: join(html, isHtml, pageOf, HTML_JOINT),
    faults: room.wasExceeded ? [FAULTS.text] : [],
  }
}

type Convert = (text: string, max: number) => LeafText

/** A page that is too large for a text is seen in the HTML alone. */
function plainOf(page: string, max: number): LeafText {
  const text = htmlToText(page) ?? ''
  return { text: text.slice(0, max), isCut: text.length > max }
}

function pageOf(text: string, max: number): LeafText {
  const escaped = text.replace(/[&<>]/g, character => ESCAPES[character]!)
  const room = max - PRE_START.length - PRE_END.length
  if (escaped.length <= room) return { text: PRE_START + escaped + PRE_END, isCut: false }
  // A reference that is cut is shown as it is written.
  return { text: room > 0 ? PRE_START + escaped.slice(0, room) + PRE_END : '', isCut: true }
}

/** Number of UTF-16 units that the texts of a message may still have. */
class Room {
  wasExceeded = false
  #left = TEXT_CHARACTERS_MAX

  /** @returns undefined if nothing of the text fits, or if there is none */
  take(read: (max: number) => LeafText): string | undefined {
    const { text, isCut } = read(this.#left)
    this.wasExceeded ||= isCut
    const isLeftOut = this.#left === 0 && isCut
    this.#left = Math.max(0, this.#left - text.length - HTML_JOINT.length)
    return isLeftOut ? undefined : text
  }
}
