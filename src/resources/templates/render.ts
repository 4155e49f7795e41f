/**
 * Fills a compiled template with values. No code runs, nothing inherited is seen, and the result is bounded.
 */
import type { CompiledTemplate, CompiledText, EmailText, Hole, Variable } from './compile.ts'
import { escapeHtml } from './escape-html.ts'

export type Values = Readonly<Record<string, unknown>>

/** A variable that can stand nowhere: it has no value, or one that is no text, number or boolean. */
interface VariableProblem {
  name: string
  problem: 'missing' | 'not-a-text'
}

export type Rendering =
  | ({ ok: true } & EmailText)
  | { ok: false; problems: VariableProblem[] }
  | { ok: false; tooLarge: true }

export interface RenderOptions {
  /** A variable with neither value nor fallback: is reported, or renders as nothing. */
  missing: 'report' | 'blank'
  /** Of subject, html and text together. */
  mostCharacters: number
}

/** The values of one rendering, by variable. */
interface Filling {
  plain: readonly (string | undefined)[]
  /** For HTML; made when first needed. */
  escaped: (string | undefined)[]
}

/**
 * Every variable is looked up once; all that cannot be filled in the parts that are there are reported
 * together.
 */
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
 * Fills a template with the values of its variables, in their order; where there is none and no fallback,
 * with nothing.
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
  const subject = fill(template.subject)?.replace(/[\r\n]+/g, ' ') ?? null
  const [html, text] = [fill(template.html), fill(template.text)]
  return left < 0 ? { ok: false, tooLarge: true } : { ok: true, subject, html, text }
}

/** Undefined as soon as the text is longer than that, however long it would have become. */
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

/** What stands in the holes of a part that is filled so. */
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

/** By own properties only, so that nothing of the language's own objects can be named. */
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
