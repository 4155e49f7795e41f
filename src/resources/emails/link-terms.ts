/**
 * On what terms an email's own links are made: what is tracked, and under which address. Decided when the
 * email is accepted and kept, so that its message can be made again as it was after either has changed.
 */
import { command, type Tx } from '../../store/command.ts'
import type { Find } from '../../store/read.ts'
import type { DomainRow, LinkTermsRow } from '../../store/schema.ts'

export interface LinkTerms {
  /** Without a slash at its end. */
  baseUrl: string
  opens: boolean
  clicks: boolean
}

/** The terms under one address: nothing tracked, opens, clicks, both. Their ids follow one another. */
export type LinkTermsIds = readonly [number, number, number, number]

/** What decides of a domain on what terms its mail has links. */
export const LINKING = ['openTracking', 'clickTracking', 'trackingTerms'] as const
export type LinkingDomain = Pick<DomainRow, (typeof LINKING)[number]>

/**
 * The terms of a domain's mail; null where its messages need no links of ours. @param ids of those that have
 * no host of their own
 */
export function linkTermsFor(
  ids: LinkTermsIds,
  { openTracking, clickTracking, trackingTerms }: LinkingDomain,
  isList: boolean,
): number | null {
  const index = openTracking | (clickTracking << 1)
  if (index === 0 && !isList) return null
  return trackingTerms === null ? ids[index]! : trackingTerms + index
}

const KINDS = [
  { trackOpens: 0, trackClicks: 0 },
  { trackOpens: 1, trackClicks: 0 },
  { trackOpens: 0, trackClicks: 1 },
  { trackOpens: 1, trackClicks: 1 },
] as const

export const linkTermsCommands = {
  /** The ids of the terms under an address, which get rows where it is a new one. */
  linkTerms: command<{ baseUrl: string }, LinkTermsIds>((tx, { baseUrl }) => termsUnder(tx, baseUrl)),
}

/** Part of a command. */
export async function termsUnder(tx: Tx, baseUrl: string): Promise<LinkTermsIds> {
  const known = await tx.db
    .selectFrom('linkTerms')
    .select('id')
    .where('baseUrl', '=', baseUrl)
    .orderBy('id')
    .execute()
  if (known.length > 0) return known.map(({ id }) => id) as unknown as LinkTermsIds
  const { last } = await tx.db
    .selectFrom('linkTerms')
    .select(eb => eb.fn.max('id').as('last'))
    .executeTakeFirstOrThrow()
  const rows = KINDS.map((kind, i): LinkTermsRow => ({ id: Number(last ?? 0) + 1 + i, baseUrl, ...kind }))
  await tx.rows.insert('linkTerms', rows)
  return rows.map(({ id }) => id) as unknown as LinkTermsIds
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
