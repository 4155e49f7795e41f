/**
 * Shares helpers between the programs. The test passes the base URL and a session as environment variables.
 */

const { MAILHORN_URL, MAILHORN_TOKEN } = process.env

export const BASE_URL = MAILHORN_URL!
export const TOKEN = MAILHORN_TOKEN!
export const MAIL = {
  from: 'Ann <ann@here.example>',
  to: ['delivered@simulator.test'],
  subject: 'Hello',
  html: '<p>Hello</p>',
}

/** Returns the body of a successful reply. @throws for an error */
export function check<D>({ data, error }: { data?: D; error?: unknown }): NonNullable<D> {
  if (error !== undefined || data === undefined || data === null) throw new Error(JSON.stringify(error))
  return data
}
