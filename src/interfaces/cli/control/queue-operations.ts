/** Operations on the queue: retry, hold, release and cancel. */
import * as z from 'zod'
import { type Id, type IdPrefix, parseWireId, wireId } from '../../../lib/ids.ts'
import { parseIsoTime } from '../../../lib/iso-time.ts'
import { banRefusalOf } from '../../../pipeline/queue/domain-bans.ts'
import { ANY_MAIL } from '../../../pipeline/queue/hold-rows.ts'
import { createQueueAdmin, type QueueAdmin } from '../../../pipeline/queue/queue-admin.ts'
import { SERVICE_MODES } from '../../../pipeline/queue/service-mode.ts'
import { parseDomain } from '../../../protocols/smtp/address.ts'
import type { MailSelector } from '../../../store/model/schema/steering.ts'
import { OperationRefused, operation } from './operation.ts'

const DESTINATIONS_MAX = 1_000

const destinationName = z.string().max(4_000)
const selected = z.object({
  domain: z.string().max(1_000).nullable(),
  account_id: z.string().nullable(),
  broadcast_id: z.string().nullable(),
  email_id: z.string().nullable(),
  entered_before: z.string().optional(),
  sender_domain: z.string().max(1_000).optional(),
})
export type Selected = z.output<typeof selected>

export const queueOperations = {
  /**
   * Processes one batch. The client repeats the call while `has_more` is true. Without a selection, all
   * deferred mail is retried; all mail cannot be canceled.
   */
  'queue.steer': operation(
    z.object({ what: z.enum(['retry', 'cancel']), mail: selected.nullable() }),
    async (context, { what, mail }) => {
      const queueAdmin = createQueueAdmin(context)
      const isAll = what === 'retry' && mail === null
      const selector = isAll ? ANY_MAIL : await knownSelector(queueAdmin, mail)
      const { deliveries, hasMore } = await queueAdmin[what](selector)
      return { deliveries, has_more: hasMore }
    },
  ),

  'queue.hold': operation(
    z.object({ mail: selected, reason: z.string().max(500).nullable() }),
    async (context, { mail, reason }) => {
      const queueAdmin = createQueueAdmin(context)
      const { hold, isNew } = await queueAdmin.hold(await knownSelector(queueAdmin, mail), reason)
      return { id: wireId('hld', hold.id), is_new: isNew }
    },
  ),

  'queue.release': operation(z.object({ mail: selected }), async (context, { mail }) => {
    const hold = await createQueueAdmin(context).release(selectorOf(mail))
    if (!hold)
      throw new OperationRefused(
        'There is no hold with exactly this selection; `mailhorn queue holds` lists all holds.',
      )
    return { id: wireId('hld', hold.id) }
  }),

  'domain.ban': operation(
    z.object({ domain: z.string().max(1_000), reason: z.string().max(500).nullable() }),
    async (context, { domain: text, reason }) => {
      const domain = domainOf(text)
      const refusal = banRefusalOf(domain, context.mailHost)
      if (refusal !== undefined) throw new OperationRefused(refusal)
      const { isNew } = await createQueueAdmin(context).ban(domain, reason)
      return { domain, is_new: isNew }
    },
  ),

  'domain.unban': operation(
    z.object({ domain: z.string().max(1_000) }),
    async (context, { domain: text }) => {
      const domain = domainOf(text)
      if (await createQueueAdmin(context).unban(domain)) return { domain }
      throw new OperationRefused(`${domain} is not banned; \`mailhorn domains banned\` lists all bans.`)
    },
  ),

  'service.mode': operation(
    z.object({ mode: z.enum(SERVICE_MODES), reason: z.string().max(500).nullable() }),
    async (context, { mode, reason }) => {
      await createQueueAdmin(context).switchMode(mode, reason)
      return { mode }
    },
  ),

  /** Returns pairs of a destination and its paths. */
  'destination.paths': operation(
    z.object({ destinations: z.array(destinationName).max(DESTINATIONS_MAX) }),
    async ({ pathsTo }, { destinations }) => {
      return [...(await pathsTo(destinations))]
    },
  ),

  'destination.resume': operation(
    z.object({ destination: destinationName }),
    async ({ run, clock }, { destination }) => {
      if (await run('resumeDestination', { destination, now: clock.now() })) return { destination }
      throw new OperationRefused(`${destination} is not paused.`)
    },
  ),
}

/** @throws OperationRefused */
async function knownSelector(queueAdmin: QueueAdmin, mail: Selected | null): Promise<MailSelector> {
  const selector = selectorOf(mail)
  const unknown = await queueAdmin.unknownIn(selector)
  if (unknown) throw new OperationRefused(`There is no ${unknown} ${mail?.[`${unknown}_id`]}.`)
  return selector
}

/** @throws OperationRefused */
function selectorOf(mail: Selected | null): MailSelector {
  if (mail === null || Object.values(mail).every(value => value === null || value === undefined))
    throw new OperationRefused('Specify a domain, account, broadcast, email, time or sender domain.')
  const { domain, sender_domain: sender } = mail
  return {
    domain: domain === null ? null : domainOf(domain),
    accountId: idOf('acc', mail.account_id),
    broadcastId: idOf('brd', mail.broadcast_id),
    emailId: idOf('eml', mail.email_id),
    ...timeOf(mail.entered_before),
    ...(sender !== undefined && { senderDomain: domainOf(sender) }),
  }
}

/** @throws OperationRefused */
function domainOf(text: string): string {
  const domain = parseDomain(text)
  if (domain === undefined) throw new OperationRefused(`"${text}" is not a valid domain.`)
  return domain
}

/** @throws OperationRefused */
function timeOf(text: string | undefined): Pick<MailSelector, 'enteredBefore'> {
  if (text === undefined) return {}
  const enteredBefore = parseIsoTime(text)
  if (enteredBefore === undefined)
    throw new OperationRefused(`"${text}" is not a valid time such as 2026-11-28T00:30:00.000Z.`)
  return { enteredBefore }
}

function idOf(prefix: IdPrefix, text: string | null): Id | null {
  const id = text === null ? null : parseWireId(prefix, text)
  if (id === undefined)
    throw new OperationRefused(`"${text}" is not a valid ID; it must begin with ${prefix}_.`)
  return id
}
