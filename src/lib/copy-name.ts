/** Names of copies, of objects with names that need not be unique. Pure. */

const COPY = /^(.*) \(copy(?: (\d{1,4}))?\)$/su

/** Returns the name of a copy: `Autumn (copy)`, then `Autumn (copy 2)`. */
export function copyName(name: string, lengthMax: number): string {
  const [, base = name, number] = COPY.exec(name) ?? []
  const isCopy = base !== name
  const end = isCopy ? ` (copy ${Number(number ?? 1) + 1})` : ' (copy)'
  return base.slice(0, lengthMax - end.length).toWellFormed() + end
}

/** Returns the name without what marks it as one of a copy. */
export function copiedName(name: string): string {
  return COPY.exec(name)?.[1] ?? name
}
