/**
 * Splices bodies of broadcast emails: the parts that all recipients share are encoded once, and each
 * recipient's values are inserted between them.
 */
import type { BodyTexts } from '../../../protocols/mime/compose-body.ts'
import { type SpliceText, spliceableText } from '../../../protocols/mime/spliced-text.ts'
import { textEntity } from '../../../protocols/mime/text-entity.ts'
import type { CompiledTemplate, CompiledText } from '../../../resources/templates/compile.ts'
import type { Personal } from '../../../resources/templates/personal.ts'
import { fillHoles } from '../../../resources/templates/render.ts'

interface SplicedTexts {
  html: BodyTexts | null
  text: BodyTexts | null
}

/** Undefined when the body has to be encoded completely for each recipient. */
type SpliceTexts = (personal: Personal) => SplicedTexts | undefined

interface Spliceable {
  html: SpliceText | null
  text: SpliceText | null
}

/** The shared parts are encoded once for each template object. */
export function createSplicer(): SpliceTexts {
  const known = new WeakMap<CompiledTemplate, Spliceable | 'not'>()
  return ({ template, values }) => {
    const spliceable = known.get(template) ?? spliceableOf(template)
    known.set(template, spliceable)
    if (spliceable === 'not') return undefined
    const { html, text } = spliceable
    return {
      html: html?.(fillHoles(template.html!, values)) ?? null,
      text: text?.(fillHoles(template.text!, values)) ?? null,
    }
  }
}

function spliceableOf({ html, text }: CompiledTemplate): Spliceable | 'not' {
  const plainText = text && isEmpty(text) ? null : text
  const [page, plain] = [html && splicer('html', html), plainText && splicer('plain', plainText)]
  return page === undefined || plain === undefined ? 'not' : { html: page, text: plain }
}

/** An empty text is not sent beside HTML. */
function isEmpty({ literals }: CompiledText): boolean {
  return literals.length === 1 && literals[0] === ''
}

/** A part without placeholders is encoded as ordinary text. */
function splicer(subtype: 'plain' | 'html', { literals, holes }: CompiledText): SpliceText | undefined {
  if (holes.length > 0) return spliceableText(subtype, literals)
  const entity = textEntity(subtype, literals[0]!)
  return () => entity
}
