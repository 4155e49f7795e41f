/**
 * Link terms of an email: which links and opens are tracked, and under which base URL. They are decided and
 * stored when the email is accepted, so that its message can be composed identically after the settings have
 * changed.
 */
import { command, type Tx } from '../../store/model/command.ts'
import type { DomainRow, LinkTermsRow } from '../../store/model/schema.ts'
import type { Find } from '../../store/reading/read.ts'

export interface LinkTerms {
  /** Without a slash at the end. */
  baseUrl: string
  opens: boolean
  clicks: boolean
}

/** Ids of the terms under one base URL: nothing tracked, opens, clicks, both. The ids are consecutive. */
export type LinkTermsIds = readonly [number, number, number, number]

/** Columns of a domain that determine the link terms of its mail. */
export const LINKING = ['openTracking', 'clickTracking', 'trackingTerms'] as const
export type LinkingDomain = Pick<DomainRow, (typeof LINKING)[number]>

/**
 * @param ids of terms under the default base URL, for domains without a tracking host
 * @returns null if the messages of the domain need no links to this service
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
  /** Returns the ids of the terms under a base URL, and inserts rows for a new one. */
  linkTerms: command<{ baseUrl: string }, LinkTermsIds>((tx, { baseUrl }) => termsUnder(tx, baseUrl)),
}

/** Is called in a transaction. */
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
  const rows = KINDS.map((kind, i): LinkTermsRow => ({ id: Number(last) + 1 + i, baseUrl, ...kind }))
  await tx.rows.insert('linkTerms', rows)
  return rows.map(({ id }) => id) as unknown as LinkTermsIds
}

/** Caches link terms without limit, since their rows never change. */
export function createLinkTermsCache(find: Find): (id: number) => Promise<LinkTerms> {
  const cache = new Map<number, LinkTerms>()
  return async id => {
    const known = cache.get(id)
    if (known) return known
    const [row] = await find('linkTerms', [{ id }], ['baseUrl', 'trackOpens', 'trackClicks'])
    if (!row) throw new Error(`there are no link terms ${id}`)
    const terms = { baseUrl: row.baseUrl, opens: row.trackOpens === 1, clicks: row.trackClicks === 1 }
    cache.set(id, terms)
    return terms
  }
}
