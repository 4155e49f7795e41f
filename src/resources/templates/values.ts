/** Reads the values of variables. This file is part of the dashboard, too. */

export type Values = Readonly<Record<string, unknown>>

/** Reads own properties only, so that a template cannot name built-in properties. */
export function valueAt(values: Values, path: readonly string[]): unknown {
  let value: unknown = values
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Values)[key]
  }
  return value
}

/** @returns undefined for anything but a string, a number or a boolean */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}
