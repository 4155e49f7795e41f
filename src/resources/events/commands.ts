/** Commands for reactions of recipients: complaints, opens and clicks. */
import { type Id, sameId } from '../../lib/ids.ts'
import { foldAddress } from '../../protocols/smtp/address.ts'
import { command, type Tx } from '../../store/model/command.ts'
import { DELIVERY_STATE } from '../../store/model/schema.ts'
import { addSuppressions } from '../suppressions/suppression-rows.ts'
import { noteActivity } from './contact-activity.ts'
import { hasHappened } from './email-events.ts'
import { recordDeliveries, recordEvents } from './record.ts'
import type { EventData } from './types.ts'

interface RecipientRef {
  accountId: Id
  emailId: Id
  ordinal: number
  at: number
}

/** A link that was followed without a tracking link. */
interface FollowedLink {
  number: number
  url: string
}

export const recipientCommands = {
  /**
   * A complaint counts once per recipient. Returns false if the recipient has complained before or was never
   * sent the email.
   */
  complain: command<RecipientRef & { data: EventData; suppress: boolean }, boolean>(async (tx, complaint) => {
    const { accountId, emailId, ordinal, at, data, suppress } = complaint
    const delivery = await findDelivery(tx, complaint)
    if (!delivery || delivery.attempts === 0 || delivery.status === 'complained') return false
    await recordDeliveries(tx, [
      {
        accountId,
        emailId,
        ordinal,
        recipient: delivery.address,
        event: { type: 'email.complained', data },
        error: null,
        at,
        handedOverAt: null,
        set: { status: 'complained', state: DELIVERY_STATE.done },
      },
    ])
    if (suppress)
      await addSuppressions(tx, [
        { accountId, email: foldAddress(delivery.address), reason: 'complaint', sourceId: emailId, at },
      ])
    return true
  }),

  opened: command<RecipientRef & { data: EventData }, void>(async (tx, ref) => {
    await engaged(tx, ref, 'email.opened')
  }),

  /** @param link is the link of the broadcast that the click counts for, if the email is one of a broadcast */
  clicked: command<RecipientRef & { data: EventData; link?: FollowedLink }, void>(
    async (tx, { link, ...ref }) => {
      const isKnown = await engaged(tx, ref, 'email.clicked')
      if (isKnown && link) await countLink(tx, ref, link)
    },
  ),
}

/** Returns undefined for a delivery of another account, too. */
async function findDelivery(tx: Tx, { accountId, emailId, ordinal }: RecipientRef) {
  const columns = ['address', 'status', 'attempts', 'accountId', 'simulated'] as const
  const [delivery] = await tx.rows.find('deliveries', [{ emailId, ordinal }], columns)
  return delivery && sameId(delivery.accountId, accountId) ? delivery : undefined
}

/** Returns false for a delivery that is not known. */
async function engaged(
  tx: Tx,
  ref: RecipientRef & { data: EventData },
  type: 'email.opened' | 'email.clicked',
): Promise<boolean> {
  const { accountId, emailId, at, data } = ref
  const delivery = await findDelivery(tx, ref)
  if (!delivery) return false
  const { address: recipient, simulated } = delivery
  const [origin] = await tx.rows.find('emails', [{ accountId, id: emailId }], ['domainId', 'broadcastId'])
  const isRepeated = await hasHappened(tx, emailId, type, recipient)
  const counted = origin ? { ...origin, simulated } : null
  await recordEvents(tx, [
    { accountId, subjectId: emailId, type, recipient, data, at, origin: counted, isRepeated },
  ])
  const counter = type === 'email.opened' ? 'openCount' : 'clickCount'
  await tx.db
    .updateTable('emails')
    .set(eb => ({ [counter]: eb(counter, '+', 1), lastEventAt: at }))
    .where('accountId', '=', accountId)
    .where('id', '=', emailId)
    .execute()
  const time = type === 'email.opened' ? 'lastOpenedAt' : 'lastClickedAt'
  await noteActivity(tx, time, [{ accountId, address: recipient, at }])
  return true
}

/** Counts a click on the link of a broadcast, so that its links agree with its clicks. */
async function countLink(
  tx: Tx,
  { accountId, emailId, ordinal, at }: RecipientRef,
  { number: link, url }: FollowedLink,
): Promise<void> {
  const [email] = await tx.rows.find('emails', [{ accountId, id: emailId }], ['broadcastId'])
  const broadcastId = email?.broadcastId
  if (!broadcastId) return
  const [visit] = await tx.rows.lock('visits', [{ emailId, ordinal, link }], ['count'])
  if (visit)
    await tx.rows.update(
      'visits',
      ['emailId', 'ordinal', 'link'],
      [{ emailId, ordinal, link, count: visit.count + 1, lastAt: at }],
    )
  else
    await tx.rows.insert('visits', [
      { accountId, emailId, ordinal, link, count: 1, machineCount: 0, firstAt: at, lastAt: at, url: null },
    ])
  const counts = ['clickCount', 'uniqueCount'] as const
  const [known] = await tx.rows.lock('broadcastLinks', [{ broadcastId, link }], counts)
  const row = {
    broadcastId,
    link,
    clickCount: (known?.clickCount ?? 0) + 1,
    uniqueCount: (known?.uniqueCount ?? 0) + (visit ? 0 : 1),
  }
  if (known) await tx.rows.update('broadcastLinks', ['broadcastId', 'link'], [row])
  else await tx.rows.insert('broadcastLinks', [{ ...row, accountId, url, machineCount: 0 }])
}
