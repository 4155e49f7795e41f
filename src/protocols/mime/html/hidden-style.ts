/** Tells from the style of an element whether readers see its content. */

/** The declarations of longer styles are not read to their end. */
const STYLE_LENGTH_MAX = 4_000
/** No value that hides something is longer. */
const VALUE_LENGTH_MAX = 100
const SIMPLE_SELECTOR = /^[a-z0-9]*([.#][\w-]+)$/i
const COMMENT = /\/\*.*?(?:\*\/|$)/gs
/** Elements that mail for all programs but Outlook hides from Outlook, such as buttons. */
const SHOWN_BESIDE_OUTLOOK = new Set(['a', 'table', 'tbody', 'tr', 'td', 'th', 'img'])

/** Sizes of text that nobody can read, by units. */
const SMALL_SIZES: ReadonlyMap<string, number> = new Map([
  ['px', 1],
  ['pt', 1],
  ['em', 0.1],
  ['rem', 0.1],
  ['%', 5],
])
/** The size in the property `font`, which has a unit or is 0, unlike the weight. */
const SIZE_IN_FONT = /(?:^|\s)(0|[\d.]+(?:px|pt|r?em|%))(?=[\s/])/

interface StyleEffect {
  isHidden: boolean
  /** Whether text is too small to be read; undefined where the style has no font size. */
  isTiny: boolean | undefined
}

/** @param name name of the element, in lower case */
export function styleEffect(name: string, style: string): StyleEffect {
  const values = declarationsOf(style)
  const size = values.get('font-size') ?? SIZE_IN_FONT.exec(values.get('font') ?? '')?.[1]
  const isClipped = values.get('overflow') === 'hidden'
  return {
    isHidden:
      values.get('display') === 'none' ||
      ['hidden', 'collapse'].includes(values.get('visibility') ?? '') ||
      isNothing(values.get('opacity')) ||
      isNothing(values.get('max-height')) ||
      (isClipped && ['height', 'width', 'max-width'].some(side => isNothing(values.get(side)))) ||
      ['left', 'top', 'text-indent', 'margin-left'].some(side => isOutside(values.get(side))) ||
      /^rect\([01](?:px)?[\s,]/.test(values.get('clip') ?? '') ||
      (values.get('mso-hide') === 'all' && !SHOWN_BESIDE_OUTLOOK.has(name)),
    isTiny: size === undefined ? undefined : isTooSmall(size),
  }
}

/** Tells whether a picture is a tracking pixel or hidden. */
export function isHiddenPicture(attributes: ReadonlyMap<string, string>): boolean {
  const isPixel = ['width', 'height'].every(side => /^[01](?:px)?$/.test(attributes.get(side)?.trim() ?? ''))
  return isPixel || attributes.has('hidden') || styleEffect('img', attributes.get('style') ?? '').isHidden
}

/**
 * Finds what a style sheet hides by rules outside of `@media` and the like.
 * @returns classes and ids: `.preheader`, `#preview`
 */
export function hiddenSelectors(sheet: string): string[] {
  const css = sheet.replace(COMMENT, '')
  const hidden: string[] = []
  let depth = 0
  let from = 0
  let selectors = ''
  for (const { index, 0: mark } of css.matchAll(/[{};]/g)) {
    if (mark === ';' && depth > 0) continue
    const text = css.slice(from, index)
    from = index + 1
    if (mark === '{' && depth++ === 0) selectors = text
    if (mark !== '}' || depth === 0 || --depth > 0) continue
    const names = selectors.split(',').flatMap(one => SIMPLE_SELECTOR.exec(one.trim())?.[1] ?? [])
    if (names.length > 0 && styleEffect('div', text).isHidden) for (const name of names) hidden.push(name)
  }
  return hidden
}

/** The last declaration of a property counts, except behind an `!important` one. */
function declarationsOf(style: string): Map<string, string> {
  const values = new Map<string, string>()
  const important = new Set<string>()
  const text = style.slice(0, STYLE_LENGTH_MAX).toLowerCase().replace(COMMENT, '')
  for (const declaration of text.split(';')) {
    const colon = declaration.indexOf(':')
    if (colon < 0) continue
    const property = declaration.slice(0, colon).trim()
    const declared = declaration.slice(colon + 1)
    const bang = declared.indexOf('!')
    if (bang >= 0) important.add(property)
    else if (important.has(property)) continue
    const value = (bang < 0 ? declared : declared.slice(0, bang)).trim()
    values.set(property, value.slice(0, VALUE_LENGTH_MAX))
  }
  return values
}

function isTooSmall(size: string): boolean {
  const [, number, unit = ''] = /^\+?(\d*\.?\d+)([a-z%]*)$/.exec(size) ?? []
  const max = SMALL_SIZES.get(unit)
  return isNothing(size) || (max !== undefined && Number(number) <= max)
}

/** Whether content is moved out of the page, as it is for screen readers alone. */
function isOutside(value: string | undefined): boolean {
  return value !== undefined && /^-\d{4}/.test(value)
}

function isNothing(value: string | undefined): boolean {
  return (
    value !== undefined && /^[+-]?0*\.?0*(?:px|em|rem|pt|%|vh|ex|ch)?$/.test(value) && value.includes('0')
  )
}
