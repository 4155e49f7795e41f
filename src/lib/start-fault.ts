/**
 * Error for reasons outside the program why the service or a command cannot start, which the operator can
 * fix.
 */

const CODE = 'START_FAULT'

/**
 * Its message is one line for the operator that says what is wrong and what to do; a stack trace would add
 * nothing.
 */
export class StartFault extends Error {
  /** By which it is known on another thread, where it is an `Error` with the same properties. */
  readonly code = CODE
}

export function isStartFault(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === CODE
}
