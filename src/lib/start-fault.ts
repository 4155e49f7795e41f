/**
 * Error for a reason outside the program that keeps the service or a command from starting and that the
 * operator can remove.
 */

const CODE = 'START_FAULT'

/**
 * The message is one line for the operator: what is wrong and what to do. It is shown without a stack trace.
 */
export class StartFault extends Error {
  /**
   * Identifies the error after it was passed from another thread, where it becomes an `Error` with the same
   * properties.
   */
  readonly code = CODE
}

export function isStartFault(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === CODE
}
