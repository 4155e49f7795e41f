/**
 * Commands that ban a domain and lift the ban. A ban is a hold on mail from the domain and its subdomains,
 * which the operator neither sees among the holds nor releases there. While it is in force, new email from
 * the domain is refused, and no account can add it (`resources/domains/banned.ts`).
 */
import { isWithinDomain } from '../../protocols/dns/name.ts'
import type { DomainBan } from '../../resources/domains/banned.ts'
import { command } from '../../store/model/command.ts'
import { endHold, startHold } from './hold.ts'
import { ANY_MAIL, findPause } from './hold-rows.ts'

export const domainBanCommands = {
  /** Bans a domain, or returns the ban that is in force. After the commit no attempt starts for its mail. */
  banDomain: command<DomainBan, { ban: DomainBan; isNew: boolean }>(async (tx, ban) => {
    const known = await findPause(tx.db, { ...ANY_MAIL, senderDomain: ban.domain })
    if (known) {
      const { reason, createdAt } = known
      return { ban: { domain: ban.domain, reason, createdAt }, isNew: false }
    }
    const { domain: senderDomain, reason, createdAt } = ban
    const hold = { ...ANY_MAIL, senderDomain, id: tx.newId(createdAt), reason, createdAt }
    await startHold(tx, { ...hold, origin: 'operator', isPause: 1, releasedAt: null })
    return { ban, isNew: true }
  }),

  /**
   * Lifts the ban of exactly this domain. The caller then returns held mail to the queue
   * (`QueueAdmin.resume`).
   * @returns false when the domain is not banned
   */
  liftDomainBan: command<{ domain: string; now: number }, boolean>(async (tx, { domain, now }) => {
    const known = await findPause(tx.db, { ...ANY_MAIL, senderDomain: domain })
    if (known) await endHold(tx, known.id, now)
    return known !== undefined
  }),
}

/** Returns why the domain cannot be banned; undefined when it can. */
export function banRefusalOf(domain: string, mailHost: string): string | undefined {
  if (!isWithinDomain(mailHost, domain)) return undefined
  return `${domain} cannot be banned, because the service sends its own email from ${mailHost}.`
}
