/** Arguments that many calls share. */

/** A well-formed id that nothing has. */
export const UNKNOWN_ID = '01990000-0000-7000-8000-000000000000'

interface Page {
  limit?: number
  after?: string
  before?: string
}

/** A list as it comes, and its pages from a row on. @param id of a row, or its cursor */
export function pages(id: string): [Page & { before?: never }][] {
  const before = { limit: 1, before: id } as Page as { before?: never }
  return [[{}], [{ limit: 1 }], [{ limit: 1, after: id }], [before]]
}
