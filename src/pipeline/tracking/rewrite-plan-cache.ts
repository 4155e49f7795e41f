/**
 * Caches the positions of links and pixel, for content shared by several emails and for templates of
 * broadcasts. In a template, the values of a recipient only shift the positions behind them.
 */

import type { Href } from '../../protocols/mime/html/read-html.ts'
import type { Content } from '../../resources/emails/content.ts'
import type { CompiledText } from '../../resources/templates/compile.ts'
import type { PersonalContent } from '../../resources/templates/personal.ts'
import { findLinks, findParts, type LinkPlan, type PageParts, webLink } from './find-links.ts'

type PlanOf = (content: PersonalContent) => LinkPlan

/** Parts of a template in which each placeholder is one character (`HOLE`). */
interface TemplateParts extends PageParts {
  /** Whether no value can change the structure of the page. */
  isFixed: boolean
}

/** Results are cached per content and template object, for the lifetime of the object. */
export function createRewritePlanCache(): PlanOf {
  const byContent = new WeakMap<Content, LinkPlan>()
  const byTemplate = new WeakMap<CompiledText, TemplateParts>()
  return content => {
    const { html, filled } = content
    if (filled) {
      const { template } = filled
      const parts = byTemplate.get(template) ?? partsOfTemplate(template)
      byTemplate.set(template, parts)
      return parts.isFixed
        ? fillParts(html!, template, parts, filled.values())
        : numberedBy(parts, template, filled.values(), findLinks(html!))
    }
    const plan = byContent.get(content) ?? findLinks(html ?? '')
    byContent.set(content, plan)
    return plan
  }
}

/** Represents a value in a template. */
export const HOLE = '\ue000'
const MARKUP = /[<>&"']/
/** Text before a value that could become a tag together with it. */
const HALF_A_TAG = /<\/?[a-z]*$/i

function partsOfTemplate({ literals, holes }: CompiledText): TemplateParts {
  const isPlain = holes.every(({ inHtml, fallback }) => inHtml && !MARKUP.test(fallback ?? ''))
  const isHalf = literals.slice(0, -1).some(literal => HALF_A_TAG.test(literal))
  const page = literals.join(HOLE)
  if (!isPlain || isHalf || literals.some(literal => literal.includes(HOLE)))
    return { ...findParts(page), isFixed: false }
  let plainHoles = 0
  let at = page.indexOf(HOLE)
  // ranges are ascending, so the page is searched once
  const parts = findParts(page, (start, end) => {
    while (at >= 0 && at < start) at = page.indexOf(HOLE, at + 1)
    for (; at >= 0 && at < end; at = page.indexOf(HOLE, at + 1)) plainHoles++
  })
  return { ...parts, isFixed: plainHoles === holes.length && !parts.hasNoEnd }
}

/**
 * Returns the plan of a page in which links of its template have the template's numbers, and other links have
 * none.
 */
function numberedBy(
  { hrefs }: TemplateParts,
  { literals }: CompiledText,
  values: readonly string[],
  { links, pixelAt }: LinkPlan,
): LinkPlan {
  const numbers = new Map(hrefs.map(({ start, number }) => [start, number]))
  let hole = 0
  let holeAt = literals[0]!.length
  let shift = 0
  /** Position in the template; undefined within a value. Calls must be in ascending order. */
  const originOf = (position: number) => {
    for (; hole < values.length && holeAt + values[hole]!.length <= position && holeAt < position; hole++) {
      shift += values[hole]!.length - HOLE.length
      holeAt += values[hole]!.length + literals[hole + 1]!.length
    }
    const isWithin = hole < values.length && holeAt < position
    return isWithin ? undefined : position - shift
  }
  return {
    links: links.map(link => ({ ...link, number: numbers.get(originOf(link.start)!) ?? null })),
    pixelAt,
  }
}

/**
 * Shifts the parts of a template by the values.
 * @param html is the template filled with the values
 */
function fillParts(
  html: string,
  { literals }: CompiledText,
  parts: PageParts,
  values: readonly string[],
): LinkPlan {
  let hole = 0
  let holeAt = literals[0]!.length
  let shift = 0
  /** Position in the page. Calls must be in ascending order. */
  const moved = (position: number) => {
    for (; hole < values.length && holeAt < position; hole++) {
      shift += values[hole]!.length - HOLE.length
      holeAt += HOLE.length + literals[hole + 1]!.length
    }
    return position + shift
  }
  const hrefs = parts.hrefs.map(href => ({ ...href, start: moved(href.start), end: moved(href.end) }))
  const links = hrefs.flatMap(href => webLink(href.value.includes(HOLE) ? reread(html, href) : href) ?? [])
  // the pixel may be before the last link, so the search starts again
  hole = 0
  holeAt = literals[0]!.length
  shift = 0
  return { links, pixelAt: moved(parts.pixelAt) }
}

/** Decodes an `href` that contains a value again. */
function reread(html: string, href: Href): Href {
  const quote = html[href.start - 1]!
  const [read] = findParts(`<a href=${quote}${html.slice(href.start, href.end)}${quote}>`).hrefs
  return { ...href, value: read!.value }
}
