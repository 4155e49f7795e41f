/**
 * On what terms an email's own links are made: what is tracked, and under which address. Decided when the email is accepted
 * and kept, so that its message can be made again as it was after either has changed.
 */
import { command } from '../command.ts'
import type { Find } from '../read.ts'
import type { DomainRow, LinkTermsRow } from '../schema.ts'

export interface LinkTerms {
  /** Without a slash at its end. */
  baseUrl: string
  opens: boolean
  clicks: boolean
}

/** The terms under one address: nothing tracked, opens, clicks, both. */
export type LinkTermsIds = readonly [number, number, number, number]

/** Of those, the terms of a domain's mail; null where its messages need no links of ours. */
export function linkTermsFor(
  ids: LinkTermsIds,
  { openTracking, clickTracking }: Pick<DomainRow, 'openTracking' | 'clickTracking'>,
  isList: boolean,
): number | null {
  const index = openTracking | (clickTracking << 1)
  return index === 0 && !isList ? null : ids[index]!
}

const KINDS = [
  { trackOpens: 0, trackClicks: 0 },
  { trackOpens: 1, trackClicks: 0 },
  { trackOpens: 0, trackClicks: 1 },
  { trackOpens: 1, trackClicks: 1 },
] as const

export const linkTermsCommands = {
  /** The ids of the terms under an address, which get rows where it is a new one. */
  linkTerms: command<{ baseUrl: string }, LinkTermsIds>(async (tx, { baseUrl }) => {
    const known = await tx.db.selectFrom('linkTerms').selectAll().execute()
    let last = Math.max(0, ...known.map(({ id }) => id))
    const rows = KINDS.map(
      (kind): LinkTermsRow =>
        known.find(
          row =>
            row.baseUrl === baseUrl &&
            row.trackOpens === kind.trackOpens &&
            row.trackClicks === kind.trackClicks,
        ) ?? { id: ++last, baseUrl, ...kind },
    )
    await tx.rows.insert(
      'linkTerms',
      rows.filter(row => !known.includes(row)),
    )
    return rows.map(({ id }) => id) as unknown as LinkTermsIds
  }),
}

/** Rows never change, so that each is read once. */
export function createLinkTermsBook(find: Find): (id: number) => Promise<LinkTerms> {
  const book = new Map<number, LinkTerms>()
  return async id => {
    const known = book.get(id)
    if (known) return known
    const [row] = await find('linkTerms', [{ id }], ['baseUrl', 'trackOpens', 'trackClicks'])
    if (!row) throw new Error(`there are no link terms ${id}`)
    const terms = { baseUrl: row.baseUrl, opens: row.trackOpens === 1, clicks: row.trackClicks === 1 }
    book.set(id, terms)
    return terms
  }
}
