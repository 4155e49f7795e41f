/**
 * Refuses unpaired surrogates. JSON can contain them as escapes, such as `"\ud800"`, but no UTF-8 text can,
 * so they would silently be stored and sent as U+FFFD.
 */
import { invalidField } from '../api-error.ts'

/** Matches an escape of a surrogate. Without one, no string of a UTF-8 text has an unpaired surrogate. */
const SURROGATE = /\\u[dD][89a-fA-F]/

/**
 * @param text text that the value was parsed from
 * @throws ApiError 422 naming a string that is not well-formed
 */
export function wellFormed<T extends object>(value: T, text: string): T {
  if (!SURROGATE.test(text)) return value
  const places: [node: object, path: string][] = [[value, '']]
  for (let place = places.pop(); place; place = places.pop()) {
    const [node, path] = place
    for (const [key, child] of Object.entries(node)) {
      const childPath = Array.isArray(node) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`
      if (!key.isWellFormed() || (typeof child === 'string' && !child.isWellFormed()))
        throw illFormed(childPath.toWellFormed())
      if (typeof child === 'object' && child !== null) places.push([child, childPath])
    }
  }
  return value
}

function illFormed(path: string) {
  return invalidField(path, `\`${path}\` must be well-formed Unicode, without unpaired surrogates.`)
}
