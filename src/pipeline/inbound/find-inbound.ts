/** Finds received messages within the limits of an access, one of them with all that the API shows of it. */
import type { Id } from '../../lib/ids.ts'
import { isInSight } from '../../resources/emails/inbound-list.ts'
import type { InboundMessageRow } from '../../store/model/schema/inbound.ts'
import type { Find } from '../../store/reading/read.ts'
import { decodeInboundContent, type InboundContent, NO_CONTENT } from './stored-content.ts'
import { LISTED_COLUMNS } from './view.ts'

const COLUMNS = [
  ...LISTED_COLUMNS,
  'listedAt',
  'rawHash',
  'contentId',
  'clientIp',
  'helo',
  'tls',
  'verdictDetail',
  'authenticationResults',
] as const

export type ShownInbound = Pick<InboundMessageRow, (typeof COLUMNS)[number]>

/** Account and limits of the access to received mail. */
export interface InboundAccess {
  accountId: Id
  /** Time in ms since the epoch; mail that was received then or before is out of access. */
  horizon: number
  /** The only domain whose mail is visible; null for all domains. */
  domain: string | null
}

export async function findInbound(
  find: Find,
  access: InboundAccess,
  id: Id,
): Promise<ShownInbound | undefined> {
  const [row] = await find('inboundMessages', [{ accountId: access.accountId, id }], COLUMNS)
  return row && isInSight(row, access) ? row : undefined
}

/** Returns those of the messages that exist and are accessible, in their order. */
export async function inSightOf(find: Find, access: InboundAccess, ids: readonly Id[]): Promise<Id[]> {
  const keys = ids.map(id => ({ accountId: access.accountId, id }))
  const rows = await find('inboundMessages', keys, ['id', 'listedAt', 'recipients'])
  return rows.flatMap(row => (row && isInSight(row, access) ? [row.id] : []))
}

export async function contentOf(
  find: Find,
  { contentId }: Pick<InboundMessageRow, 'contentId'>,
): Promise<InboundContent> {
  if (contentId === null) return NO_CONTENT
  const [stored] = await find('contents', [{ id: contentId }], ['encoding', 'body'])
  return stored ? decodeInboundContent(stored) : NO_CONTENT
}
