/**
 * Renders a compiled template with values. Templates contain no code, only own properties of the values are
 * read, and the size of the result is limited.
 */
import type { CompiledTemplate, CompiledText, EmailText, Hole, Variable } from './compile.ts'
import { escapeHtml } from './escape-html.ts'

export type Values = Readonly<Record<string, unknown>>

/** A variable without a value, or with one that is not a text, number or boolean. */
interface VariableProblem {
  name: string
  problem: 'missing' | 'not-a-text'
}

export type Rendering =
  | ({ ok: true } & EmailText)
  | { ok: false; problems: VariableProblem[] }
  | { ok: false; tooLarge: true }

export interface RenderOptions {
  /** A variable with neither value nor fallback is reported, or renders as an empty text. */
  missing: 'report' | 'blank'
  /** Limit for subject, html and text together. */
  mostCharacters: number
}

/** Values of one rendering, by variable. */
interface Filling {
  plain: readonly (string | undefined)[]
  /** Values escaped for HTML on first use. */
  escaped: (string | undefined)[]
}

/** Looks every variable up once. All problems of the parts that are present are reported together. */
export function renderTemplate(
  template: CompiledTemplate,
  values: Values,
  { missing, mostCharacters }: RenderOptions,
): Rendering {
  const plain = template.variables.map(({ path }) => textOf(valueAt(values, path)))
  if (missing === 'report') {
    const problems = problemsOf(template, plain, values)
    if (problems.length > 0) return { ok: false, problems }
  }
  return fillTemplate(template, plain, mostCharacters)
}

/**
 * Fills a template with the values of its variables, in their order. A variable with neither value nor
 * fallback becomes an empty text.
 */
export function fillTemplate(
  template: CompiledTemplate,
  plain: readonly (string | undefined)[],
  mostCharacters: number,
): Exclude<Rendering, { problems: unknown }> {
  const filling: Filling = { plain, escaped: [] }
  let left = mostCharacters
  const fill = (part: CompiledText | null): string | null => {
    if (part === null || left < 0) return null
    const rendered = fillText(part, filling, left)
    left -= rendered === undefined ? Number.POSITIVE_INFINITY : rendered.length
    return rendered ?? null
  }
  const subject =
    fill(template.subject)
      ?.replace(/[\r\n]+/g, ' ')
      .trim() ?? null
  const [html, text] = [fill(template.html), fill(template.text)]
  return left < 0 ? { ok: false, tooLarge: true } : { ok: true, subject, html, text }
}

/** @returns undefined as soon as the text exceeds `mostCharacters` */
function fillText(
  { literals, holes }: CompiledText,
  filling: Filling,
  mostCharacters: number,
): string | undefined {
  let rendered = literals[0]!
  for (const [i, hole] of holes.entries()) {
    const value = valueFor(hole, filling, mostCharacters)
    rendered += value + literals[i + 1]!
    if (rendered.length > mostCharacters) return undefined
  }
  return rendered.length > mostCharacters ? undefined : rendered
}

/** @returns the values that are inserted into the holes of a part */
export function fillHoles({ holes }: CompiledText, plain: readonly (string | undefined)[]): string[] {
  const filling: Filling = { plain, escaped: [] }
  return holes.map(hole => valueFor(hole, filling, Number.POSITIVE_INFINITY))
}

function valueFor({ variable, fallback, inHtml }: Hole, { plain, escaped }: Filling, most: number): string {
  const value = plain[variable]
  if (value === undefined || (value === '' && fallback !== null)) return fallback ?? ''
  if (!inHtml) return value
  const known = escaped[variable]
  if (known !== undefined) return known
  const made = escapeHtml(value, most)
  escaped[variable] = made
  return made
}

function problemsOf(
  { variables, subject, html, text }: CompiledTemplate,
  plain: readonly (string | undefined)[],
  values: Values,
): VariableProblem[] {
  const unfilled = new Set<Variable>()
  for (const part of [subject, html, text])
    for (const { variable, fallback } of part?.holes ?? [])
      if (fallback === null && plain[variable] === undefined) unfilled.add(variables[variable]!)
  return [...unfilled].map(({ name, path }) => {
    const value = valueAt(values, path)
    return { name, problem: value === undefined || value === null ? 'missing' : 'not-a-text' }
  })
}

/** Reads own properties only, so that a template cannot name built-in properties. */
function valueAt(values: Values, path: readonly string[]): unknown {
  let value: unknown = values
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Values)[key]
  }
  return value
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}
