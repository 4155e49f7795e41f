/**
 * Renders a compiled template with values. Templates contain no code, only own properties of the values are
 * read, and the size of the result is limited.
 */
import type { CompiledTemplate, CompiledText, EmailText, Hole, Variable } from './compile.ts'
import { type DeclaredVariable, declaredFallbacks, type TypeProblem, typeProblems } from './declared.ts'
import { escapeHtml } from './escape-html.ts'
import { textOf, type Values, valueAt } from './values.ts'

/** A variable without a value, or with one that is not of its type or cannot be shown as text. */
type VariableProblem = { name: string; problem: 'missing' | 'not-a-text' } | TypeProblem

export type Rendering =
  | ({ ok: true } & EmailText)
  | { ok: false; problems: VariableProblem[] }
  | { ok: false; tooLarge: true }

export interface RenderOptions {
  /** By default, the template declares no variables. */
  declared?: readonly DeclaredVariable[]
  /** A variable with neither value nor fallback is reported, or renders as an empty text. */
  missing: 'report' | 'blank'
  /** Limit for subject, html and text together. */
  maxCharacters: number
}

/** Values of one rendering, by variable. */
interface Filling {
  plain: readonly (string | undefined)[]
  /** Declared fallbacks. One in the placeholder itself takes precedence. */
  fallbacks: readonly (string | undefined)[]
  /** Values escaped for HTML on first use. */
  escaped: (string | undefined)[]
}

/** Looks every variable up once. All problems of the parts that are present are reported together. */
export function renderTemplate(
  template: CompiledTemplate,
  values: Values,
  { missing, maxCharacters, declared = [] }: RenderOptions,
): Rendering {
  const plain = template.variables.map(({ path }) => textOf(valueAt(values, path)))
  const fallbacks = declaredFallbacks(declared, template.variables, values)
  if (missing === 'report') {
    const wrong = typeProblems(declared, values)
    const named = new Set(wrong.map(({ name }) => name))
    const unfilled = unfilledVariables(template, { plain, fallbacks }, values)
    const problems = [...wrong, ...unfilled.filter(({ name }) => !named.has(name))]
    if (problems.length > 0) return { ok: false, problems }
  }
  return fillTemplate(template, plain, maxCharacters, fallbacks)
}

/**
 * Fills a template with the values of its variables, in their order. A variable with neither value nor
 * fallback becomes an empty text.
 */
export function fillTemplate(
  template: CompiledTemplate,
  plain: readonly (string | undefined)[],
  maxCharacters: number,
  fallbacks: Filling['fallbacks'] = [],
): Exclude<Rendering, { problems: unknown }> {
  const filling: Filling = { plain, fallbacks, escaped: [] }
  let left = maxCharacters
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

/** @returns undefined as soon as the text exceeds `maxCharacters` */
function fillText(
  { literals, holes }: CompiledText,
  filling: Filling,
  maxCharacters: number,
): string | undefined {
  let rendered = literals[0]!
  for (const [i, hole] of holes.entries()) {
    const value = valueFor(hole, filling, maxCharacters)
    rendered += value + literals[i + 1]!
    if (rendered.length > maxCharacters) return undefined
  }
  return rendered.length > maxCharacters ? undefined : rendered
}

/** @returns the values that are inserted into the holes of a part */
export function fillHoles({ holes }: CompiledText, plain: readonly (string | undefined)[]): string[] {
  const filling: Filling = { plain, fallbacks: [], escaped: [] }
  return holes.map(hole => valueFor(hole, filling, Number.POSITIVE_INFINITY))
}

function valueFor(
  { variable, fallback, inHtml }: Hole,
  { plain, fallbacks, escaped }: Filling,
  max: number,
): string {
  const supplied = plain[variable]
  if (fallback !== null && (supplied === undefined || supplied === '')) return fallback
  const value = supplied ?? fallbacks[variable] ?? ''
  if (!inHtml) return value
  const known = escaped[variable]
  if (known !== undefined) return known
  const made = escapeHtml(value, max)
  escaped[variable] = made
  return made
}

function unfilledVariables(
  { variables, subject, html, text }: CompiledTemplate,
  { plain, fallbacks }: Pick<Filling, 'plain' | 'fallbacks'>,
  values: Values,
): VariableProblem[] {
  const unfilled = new Set<Variable>()
  for (const part of [subject, html, text])
    for (const { variable, fallback } of part?.holes ?? [])
      if ((fallback ?? plain[variable] ?? fallbacks[variable]) === undefined)
        unfilled.add(variables[variable]!)
  return [...unfilled].map(({ name, path }) => {
    const value = valueAt(values, path)
    return { name, problem: value === undefined || value === null ? 'missing' : 'not-a-text' }
  })
}
