/** Paths to the values inside JSON and arguments. */

export type Path = readonly (string | number)[]

/** Paths of everything that has no parts; an empty list or object counts as such. */
export function leavesOf(value: unknown, path: Path = []): Path[] {
  if (!isContainer(value)) return path.length === 0 ? [] : [path]
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  const present = entries.filter(([, item]) => item !== undefined)
  if (present.length === 0) return path.length === 0 ? [] : [path]
  return present.flatMap(([key, item]) => leavesOf(item, [...path, key]))
}

/** Such as `attachments[].filename`. A value in a list of plain values has the name of the list. */
export function nameOf(path: Path): string {
  return path
    .map((part, i) => (typeof part === 'number' ? '[]' : i === 0 ? part : `.${part}`))
    .join('')
    .replace(/\[\]$/, '')
}

export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce((within, part) => (within as Record<string | number, unknown>)[part], value)
}

/** A copy that differs in that place. */
export function withValueAt(value: unknown, [part, ...rest]: Path, put: unknown): unknown {
  if (part === undefined) return put
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<
    string | number,
    unknown
  >
  copy[part] = withValueAt(copy[part], rest, put)
  return copy
}

function isContainer(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype
}
