/**
 * Reads the declarations of the newest resend package with the TypeScript checker: its methods, the fields of
 * their options, and the types of replies.
 */
import { fileURLToPath } from 'node:url'
import { API, type Checker, type Project, SignatureKind, type Type } from 'typescript/unstable/sync'

export interface DeclaredMethod {
  /** Such as `emails.receiving.get`. */
  name: string
  /**
   * Fields of its options, such as `attachments[].filename`; those of the request itself (headers, signal)
   * are left out.
   */
  fields: string[]
}

/** A value that must be assignable to a type of the package. */
export interface TypedValue {
  label: string
  /**
   * Type expression of TypeScript; it may use `Reply<'emails.get'>` and all types that the package exports.
   */
  type: string
  value: unknown
}

/** Types whose own properties are not fields: bytes, and what is rendered before it is sent. */
const LEAF_TYPES = new Set(['Blob', 'Buffer', 'Uint8Array', 'ArrayBuffer', 'ReactNode', 'AbortSignal'])
/** The client that each resource holds, and ways to call paths that have no method. */
const CLIENT = 'resend'
/** Rules of automations contain rules. */
const DEPTH_MAX = 6

const folder = fileURLToPath(new URL('../../../sdk-types', import.meta.url))
const MAIN = `${folder}/main.ts`
const CONFIG = `${folder}/tsconfig.json`
const HEAD = `import type * as sdk from 'resend'
type In<T, P extends string> = P extends \`\${infer K}.\${infer Rest}\` ? (K extends keyof T ? In<T[K], Rest> : never) : P extends keyof T ? T[P] : never
type Answer<T> = T extends (...given: never) => PromiseLike<{ data: infer D } | { data: null }> ? NonNullable<D> : never
type Reply<P extends string> = Answer<In<sdk.Resend, P>>
export declare const client: sdk.Resend
`
const COMPILER_OPTIONS = {
  ...{ strict: true, noEmit: true, skipLibCheck: true },
  ...{ module: 'nodenext', target: 'esnext', lib: ['esnext', 'dom'], types: ['node'] },
}

/** Every method of every resource, in alphabetical order. */
export function declaredMethods(): DeclaredMethod[] {
  return withProject(HEAD, ({ checker }) => {
    const symbol = checker.getSymbolAtPosition(MAIN, HEAD.indexOf('client:'))!
    return methodsOf(checker, checker.getTypeOfSymbol(symbol)!, '').sort((a, b) => (a.name < b.name ? -1 : 1))
  })
}

/** Says what TypeScript would say of each value, in its strict mode; nothing where all are assignable. */
export function faultsOfTypes(values: readonly TypedValue[]): { label: string; fault: string }[] {
  const lines = values.map(
    ({ type, value }, i) =>
      `declare const given${i}: ${typeOfJson(value)}\nconst read${i}: ${type} = given${i}`,
  )
  const text = `${HEAD}${lines.join('\n')}\nexport const all = [${values.map((_, i) => `read${i}`).join(', ')}]\n`
  return withProject(text, ({ program }) =>
    program.getSemanticDiagnostics(MAIN).map(diagnostic => {
      const read = /const read(\d+)/.exec(text.slice(text.lastIndexOf('\n', diagnostic.pos) + 1))
      const label = read ? values[Number(read[1])]!.label : 'the declarations'
      return { label, fault: wordsOf(diagnostic) }
    }),
  )
}

interface Words {
  text: string
  messageChain?: readonly Words[] | undefined
}

function wordsOf({ text, messageChain = [] }: Words): string {
  return [text, ...(messageChain ?? []).map(wordsOf)].join(' ')
}

function withProject<T>(text: string, use: (project: Project) => T): T {
  const config = JSON.stringify({ compilerOptions: COMPILER_OPTIONS, files: ['main.ts'] })
  const files = new Map([
    [MAIN, text],
    [CONFIG, config],
  ])
  const api = new API({
    fs: {
      readFile: name => files.get(name),
      fileExists: name => files.has(name) || undefined,
      directoryExists: name => name === folder || undefined,
    },
  })
  try {
    const project = api.updateSnapshot({ openProjects: [CONFIG] }).getProject(CONFIG)
    if (!project) throw new Error('TypeScript cannot open the project')
    return use(project)
  } finally {
    api.close()
  }
}

function methodsOf(checker: Checker, type: Type, prefix: string): DeclaredMethod[] {
  return checker.getPropertiesOfType(type).flatMap(property => {
    const of = checker.getTypeOfSymbol(property)
    if (!of || property.name === CLIENT) return []
    const name = `${prefix}${property.name}`
    const signatures = checker.getSignaturesOfType(of, SignatureKind.Call)
    if (signatures.length === 0) return of.isClassOrInterface() ? methodsOf(checker, of, `${name}.`) : []
    if (prefix === '') return []
    const parameters = signatures.flatMap(signature => signature.getParameters())
    const options = parameters
      .map(parameter => checker.getTypeOfSymbol(parameter)!)
      .filter(option => !isOfTheRequest(checker, option))
    const fields = options.flatMap(option => fieldsOf(checker, option, ''))
    return [{ name, fields: [...new Set(fields.map(field => field.replace(/\[\]$/, '')))].sort() }]
  })
}

function isOfTheRequest(checker: Checker, type: Type): boolean {
  const of = type.isTypeParameter() ? checker.getConstraintOfTypeParameter(type) : type
  const types = of?.isUnionType() ? (of.getTypes() ?? []) : of ? [of] : []
  return types.some(one => checker.getPropertyOfType(one, 'signal') !== undefined)
}

function fieldsOf(checker: Checker, type: Type, path: string, depth = 0): string[] {
  if (depth > DEPTH_MAX || LEAF_TYPES.has(type.getAliasSymbol()?.name ?? type.getSymbol()?.name ?? ''))
    return path === '' ? [] : [path]
  if (type.isUnionType())
    return (type.getTypes() ?? []).flatMap(member => fieldsOf(checker, member, path, depth + 1))
  if (checker.isArrayType(type)) {
    const [item] = checker.getTypeArguments(type as Parameters<Checker['getTypeArguments']>[0])
    return item ? fieldsOf(checker, item, `${path}[]`, depth + 1) : [path]
  }
  if (!type.isObjectType() && !type.isIntersectionType()) return isNothing(checker, type, path) ? [] : [path]
  const inner = checker.getPropertiesOfType(type).flatMap(property => {
    const of = checker.getTypeOfSymbol(property)
    return of
      ? fieldsOf(checker, of, path === '' ? property.name : `${path}.${property.name}`, depth + 1)
      : []
  })
  return inner.length > 0 || path === '' ? inner : [path]
}

/** `undefined`, `null` and `never` beside the type of a field, and an id that is an argument by itself. */
function isNothing(checker: Checker, type: Type, path: string): boolean {
  return path === '' || ['undefined', 'null', 'never'].includes(checker.typeToString(type))
}

/** The type of a JSON value, as narrow as it can be. */
function typeOfJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(typeOfJson).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  const entries = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${typeOfJson(item)}`)
  return `{ ${entries.join('; ')} }`
}
