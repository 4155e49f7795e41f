/**
 * Where pages can be tracked, found once for all that have it in common: content that several emails share,
 * and the template of a broadcast, in which each recipient's values move what stands behind them and change
 * nothing else.
 */

import type { Content } from '../../resources/emails/content.ts'
import type { CompiledText } from '../../resources/templates/compile.ts'
import type { PersonalContent } from '../../resources/templates/personal.ts'
import { findLinks, findParts, type LinkPlan, type PageParts, webLink } from './find-links.ts'
import type { Href } from './read-html.ts'

type PlanOf = (content: PersonalContent) => LinkPlan

/** What a template has, holes of one character in it. */
interface TemplateParts extends PageParts {
  /** No value could make it another page. */
  isFixed: boolean
}

/** What has been found is known as long as the same objects come. */
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

/** Stands for a value in a template. */
export const HOLE = '\ue000'
const MARKUP = /[<>&"']/
/** Before a hole: with the right value behind it, it would become a tag. */
const HALF_A_TAG = /<\/?[a-z]*$/i

function partsOfTemplate({ literals, holes }: CompiledText): TemplateParts {
  const isPlain = holes.every(({ inHtml, fallback }) => inHtml && !MARKUP.test(fallback ?? ''))
  const isHalf = literals.slice(0, -1).some(literal => HALF_A_TAG.test(literal))
  const page = literals.join(HOLE)
  if (!isPlain || isHalf || literals.some(literal => literal.includes(HOLE)))
    return { ...findParts(page), isFixed: false }
  let plainHoles = 0
  let at = page.indexOf(HOLE)
  // stretches ascend: what is between two holes is looked through once
  const parts = findParts(page, (start, end) => {
    while (at >= 0 && at < start) at = page.indexOf(HOLE, at + 1)
    for (; at >= 0 && at < end; at = page.indexOf(HOLE, at + 1)) plainHoles++
  })
  return { ...parts, isFixed: plainHoles === holes.length && !parts.hasNoEnd }
}

/**
 * The plan of a page, in which the links that its template has are numbered as they are there, and the others
 * not.
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
  /** Where it stands in the template; undefined within a value. To be asked in ascending order. */
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

/** The same with values in the holes. @param html which that has become */
function fillParts(
  html: string,
  { literals }: CompiledText,
  parts: PageParts,
  values: readonly string[],
): LinkPlan {
  let hole = 0
  let holeAt = literals[0]!.length
  let shift = 0
  /** To be asked in ascending order. */
  const moved = (position: number) => {
    for (; hole < values.length && holeAt < position; hole++) {
      shift += values[hole]!.length - HOLE.length
      holeAt += HOLE.length + literals[hole + 1]!.length
    }
    return position + shift
  }
  const places = parts.hrefs.map(href => ({ ...href, start: moved(href.start), end: moved(href.end) }))
  const links = places.flatMap(href => webLink(href.value.includes(HOLE) ? reread(html, href) : href) ?? [])
  // the pixel may stand before the last of them
  hole = 0
  holeAt = literals[0]!.length
  shift = 0
  return { links, pixelAt: moved(parts.pixelAt) }
}

/** A reference that a value has changed. */
function reread(html: string, href: Href): Href {
  const quote = html[href.start - 1]!
  const [read] = findParts(`<a href=${quote}${html.slice(href.start, href.end)}${quote}>`).hrefs
  return { ...href, value: read!.value }
}
