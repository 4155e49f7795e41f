/** Compiles a template to literals and numbered variables, so that it can be rendered for many emails. */
import { type ParsedText, type Placeholder, parseText } from './parse.ts'

/** Texts of an email or a template; a missing part is null. */
export interface EmailText {
  subject: string | null
  html: string | null
  text: string | null
}

/** A position at which the value of a variable is inserted. */
export interface Hole {
  /** Index into the template's variables. */
  variable: number
  fallback: string | null
  /** True if the value is escaped for HTML. */
  inHtml: boolean
}

export interface CompiledText {
  /** One more than there are holes. */
  literals: readonly string[]
  holes: readonly Hole[]
}

export interface Variable {
  name: string
  path: readonly string[]
  /** Fallback of the first placeholder; null if at least one placeholder has no fallback. */
  fallback: string | null
}

/** A part can be removed by setting it to null. */
export interface CompiledTemplate {
  /** Each name once, in the order of subject, html and text. */
  variables: readonly Variable[]
  subject: CompiledText | null
  html: CompiledText | null
  text: CompiledText | null
}

/** @param isName see `parseText` */
export function compileTemplate(
  { subject, html, text }: EmailText,
  isName?: (text: string) => boolean,
): CompiledTemplate {
  const variables = new Map<string, Variable & { index: number }>()
  const numberOf = ({ name, path, fallback }: Placeholder): number => {
    const known = variables.get(name)
    if (!known) {
      const index = variables.size
      variables.set(name, { name, path, fallback, index })
      return index
    }
    if (fallback === null) known.fallback = null
    return known.index
  }
  const compile = ({ literals, placeholders }: ParsedText, isHtml: boolean): CompiledText => ({
    literals,
    holes: placeholders.map(placeholder => ({
      variable: numberOf(placeholder),
      fallback: placeholder.fallback,
      inHtml: isHtml && !placeholder.raw,
    })),
  })
  const parts = {
    subject: subject === null ? null : compile(parseText(subject, isName), false),
    html: html === null ? null : compile(parseText(html, isName), true),
    text: text === null ? null : compile(parseText(text, isName), false),
  }
  return { ...parts, variables: [...variables.values()].map(({ index: _, ...variable }) => variable) }
}
