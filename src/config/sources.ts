/** Reads raw configuration values from JSON files and from files that contain one secret. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

/** Raw values by dotted snake_case key, with the name of their source for error messages. */
export interface Source {
  name: string
  values: ReadonlyMap<string, unknown>
}

/** Returns the shipped file, then the file of the operator. Later sources override earlier ones. */
export function fileSources(root: string, named: string | undefined, problems: string[]): Source[] {
  const shipped = jsonFile(resolve(root, 'config/default.json'), 'config/default.json', problems, true)
  const own = named
    ? jsonFile(resolve(named), named, problems, true)
    : jsonFile(resolve(root, 'config/local.json'), 'config/local.json', problems, false)
  return [shipped, own].filter(source => source !== undefined)
}

/** Reads the value in the file that a `…_FILE` variable names, without its final line break. */
export function secretFile(variable: string, path: string, problems: string[]): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    problems.push(`${variable}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`)
    return ''
  }
}

function jsonFile(path: string, name: string, problems: string[], needed: boolean): Source | undefined {
  let content: string
  try {
    content = readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (needed || code !== 'ENOENT') problems.push(`${name}: cannot be read (${code})`)
    return undefined
  }
  try {
    const parsed: unknown = JSON.parse(content)
    if (!isObject(parsed)) throw new SyntaxError('is not an object')
    return { name, values: new Map(entriesOf(parsed, '')) }
  } catch (error) {
    problems.push(`${name}: is not valid JSON (${(error as Error).message})`)
    return undefined
  }
}

/** Lists the dotted keys of nested objects. A key in the file may itself contain dots. */
function* entriesOf(object: Record<string, unknown>, prefix: string): Generator<[string, unknown]> {
  for (const [key, value] of Object.entries(object))
    if (isObject(value)) yield* entriesOf(value, `${prefix}${key}.`)
    else yield [prefix + key, value]
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
