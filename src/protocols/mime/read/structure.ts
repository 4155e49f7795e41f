/**
 * Sorts the leaves of a message into bodies and attachments as `parseStructure` of RFC 8621 §4.1.4 does.
 * Members of a multipart/alternative stand for each other. The texts of any other multipart follow each
 * other (RFC 2046 §5.1.3), so that a text of either type belongs to both lists.
 *
 * In: the tree of `walk.ts`. Out: a `Structure`. Called by `read-mail.ts`.
 */
import type { Leaf, Multipart } from './walk.ts'

interface Bodies {
  /** What a reader that prefers plain text shows, in this order. */
  text: readonly Leaf[]
  /** What a reader that prefers HTML shows, in this order. */
  html: readonly Leaf[]
}

export interface Structure extends Bodies {
  attachments: readonly Leaf[]
}

/** @param split divides a plain text into texts and the files that stand in it */
export function structureOf(root: Leaf | Multipart, split: (body: Leaf) => readonly Leaf[]): Structure {
  const attachments: Leaf[] = []

  const bodiesOf = (part: Leaf | Multipart, isBody: boolean): Bodies => {
    if ('parts' in part) return bodiesIn(part)
    const pieces = isBody ? split(part) : [part]
    const texts = pieces.filter(piece => isBody && isText(piece))
    for (const piece of pieces) if (!isBody || !isText(piece)) attachments.push(piece)
    return { text: texts, html: texts }
  }
  const bodiesIn = ({ parts, type }: Multipart): Bodies => {
    const kind = type.value.slice('multipart/'.length)
    const first = kind === 'related' ? rootOf(parts, type.params.get('start')) : parts[0]
    const bodies = parts.map(part =>
      bodiesOf(part, isText(part) && (part === first || isBodyBehind(part, kind))),
    )
    const text = bodies.flatMap(one => one.text)
    const html = bodies.flatMap(one => one.html)
    if (kind !== 'alternative') return { text, html }
    const plainOnes = bodies.filter(one => !one.text.some(isHtml)).flatMap(one => one.text)
    const htmlOnes = bodies.filter(one => one.html.some(isHtml)).flatMap(one => one.html)
    return {
      text: plainOnes.length > 0 ? plainOnes : text,
      html: htmlOnes.length > 0 ? htmlOnes : html,
    }
  }
  return { ...bodiesOf(root, isText(root)), attachments }
}

function isText(part: Leaf | Multipart): boolean {
  if ('parts' in part || part.disposition.value === 'attachment') return false
  return part.type.value === 'text/plain' || isHtml(part)
}

export function isHtml({ type }: Leaf): boolean {
  return type.value === 'text/html'
}

/**
 * Tells whether a text that is not the first part of its multipart is a body: an alternative whatever its
 * name (RFC 2183 §2.1), and never a part that a multipart/related shows elsewhere. Another text with a name
 * is a file.
 */
function isBodyBehind(part: Leaf | Multipart, kind: string): boolean {
  if (kind === 'alternative' || kind === 'related' || 'parts' in part) return kind === 'alternative'
  return !part.disposition.params.get('filename') && !part.type.params.get('name')
}

/**
 * Returns the part of a multipart/related that shows the others (RFC 2387 §3.2), or the first that can show
 * any.
 * @param start Content-ID of the part
 */
function rootOf(
  parts: readonly (Leaf | Multipart)[],
  start: string | undefined,
): Leaf | Multipart | undefined {
  const wanted = start && bareId(start)
  const named = wanted && parts.find(({ contentId }) => contentId && bareId(contentId) === wanted)
  return named || parts.find(part => 'parts' in part || isText(part))
}

function bareId(contentId: string): string {
  return contentId.trim().replace(/^<|>$/g, '')
}
