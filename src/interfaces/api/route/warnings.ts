/**
 * Names the fields of a request that the service accepts but does not apply, so that a field of an SDK is
 * never dropped silently. In: the body of the request and a reason per field. Out: `warnings` of the reply.
 */
import * as z from 'zod'
import type { FieldProblem } from '../../../pipeline/accept/refusal.ts'
import { camelCase } from '../schema/read.ts'

export type Warning = FieldProblem

/**
 * Messages by name of the field in snake_case; a function gets the value and returns undefined if the value
 * needs no warning.
 */
export type Reasons = Readonly<Record<string, string | ((value: unknown) => string | undefined)>>

/** Field of a reply that may have warnings. It is absent when there are none. */
export const warningsSchema = z
  .array(z.object({ path: z.string(), message: z.string() }))
  .exactOptional()
  .meta({
    description: 'Fields of the request that were accepted but not applied, or not everywhere, and why.',
  })

/** Adds warnings to the body of a reply. Without warnings, the body is returned unchanged. */
export function withWarnings<T extends object>(body: T, warnings: readonly Warning[]) {
  return warnings.length === 0 ? body : { ...body, warnings: [...warnings] }
}

/**
 * Returns a warning for each listed field that the body contains with a value. Null and an empty list count
 * as absent, and the camelCase spelling counts as the field.
 */
export function warningsFor(body: unknown, reasons: Reasons): Warning[] {
  return Object.entries(reasons).flatMap(([path, reason]) => {
    const value = presentValue(body, path)
    if (value === undefined) return []
    const message = typeof reason === 'string' ? reason : reason(value)
    return message === undefined ? [] : [{ path, message }]
  })
}

function presentValue(body: unknown, key: string): unknown {
  if (typeof body !== 'object' || body === null) return undefined
  const present = [key, camelCase(key)]
    .filter(spelling => Object.hasOwn(body, spelling))
    .map(spelling => (body as Record<string, unknown>)[spelling])
  return present.find(value => value !== null && value !== undefined && !isEmptyList(value))
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}
