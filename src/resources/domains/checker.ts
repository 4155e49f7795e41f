/**
 * Checks domains and stores the results. In: requests of users and due automatic checks. Out: a new status,
 * the result of each record, and events. Called by `domains.ts` and `rechecks.ts`.
 */
import type { Clock } from '../../lib/clock.ts'
import { FairSemaphore } from '../../lib/fair-semaphore.ts'
import { type Id, idKey } from '../../lib/ids.ts'
import { type Run, StorageUnavailable } from '../../store/model/command.ts'
import type { Db } from '../../store/model/schema.ts'
import type { CheckSessions } from './check-session.ts'
import { withProblems } from './checks/observation.ts'
import type { VisitHost } from './checks/tracking.ts'
import { type LinkPlace, trackingHostOf } from './checks/tracking-host.ts'
import type { CheckedDomainRow, domainCommands } from './commands.ts'
import { allRecordsOf } from './dns-records.ts'
import { type DomainWithKeys, findDomain } from './domain-rows.ts'
import { publishedKeyOf } from './key-text.ts'
import { type CheckOutcome, maySend } from './status.ts'
import { type CheckedDomain, checkDomain, type DomainChecks } from './verify.ts'

export interface CheckerOptions {
  db: Db
  run: Run<typeof domainCommands>
  clock: Clock
  mailHost: string
  inquiries: CheckSessions
  linkPlace: LinkPlace
  visitHost: VisitHost
  /** Called for each change of a status. */
  onStatus?(domain: DomainWithKeys, former: DomainWithKeys['status']): void
}

interface CheckedResult {
  domain: DomainWithKeys
  checks: DomainChecks
}

/** Reserved top-level domains, which cannot be delegated (RFC 2606 §2). */
const RESERVED = /\.(?:test|example|invalid|localhost)$/
/** Limits of concurrent checks, in total and per account, and of waiting checks. */
const CHECKS_MAX = 16
const CHECKS_OF_ACCOUNT_MAX = 6
const WAITING_MAX = { maxPerOwner: 20, max: 200 }

/** Tells whether the provider zone is not visible in public DNS, so that its records cannot be required. */
export function isLaboratory(mailHost: string): boolean {
  return RESERVED.test(mailHost)
}

export function createChecker(
  options: CheckerOptions,
): (accountId: Id, id: Id) => Promise<CheckedResult | undefined> {
  const checking = new Map<string, Promise<CheckedResult | undefined>>()
  const slots = new FairSemaphore(CHECKS_MAX, CHECKS_OF_ACCOUNT_MAX, WAITING_MAX)

  const check = (accountId: Id, id: Id): Promise<CheckedResult | undefined> =>
    slots.run(idKey(accountId), async () => {
      const domain = await findDomain(options.db, accountId, id)
      return domain && (await checkNow(options, domain))
    })

  return (accountId, id) => {
    const key = idKey(accountId) + idKey(id)
    const running = checking.get(key) ?? check(accountId, id).finally(() => checking.delete(key))
    checking.set(key, running)
    return running
  }
}

/**
 * @throws StorageUnavailable when the service stops during the check, because its results are then incomplete
 */
async function checkNow(options: CheckerOptions, domain: DomainWithKeys): Promise<CheckedResult | undefined> {
  const { run, clock, inquiries } = options
  const first = await inquire(options, domain)
  // a result that would revoke the verification is confirmed by a second check
  const isLost = maySend(domain.status) && outcomeOf(first, domain) === 'gone'
  const isDoubtful = isLost || (domain.trackingTerms !== null && !first.linksAreServed)
  const found = isDoubtful ? await inquire(options, domain) : first
  if (inquiries.isClosed()) throw new StorageUnavailable('the service is stopping')
  const { accountId, id } = domain
  const visibleSlots = domain.keys.filter((_, i) => found.selectors[i] === 'right').map(({ slot }) => slot)
  const checked = await run('recordDomainCheck', {
    ...{ accountId, id, visibleSlots },
    at: clock.now(),
    outcome: outcomeOf(found, domain),
    links: linksOf(options, domain, found),
    checks: JSON.stringify(found.checks),
  })
  if (!checked) return undefined
  if (checked.domain.status !== checked.former) options.onStatus?.(checked.domain, checked.former)
  return { domain: checked.domain, checks: toldOf(found.checks, checked) }
}

/** Returns the tracking host that was checked. The setting may have changed in the meantime. */
function linksOf({ linkPlace }: CheckerOptions, domain: DomainWithKeys, { linksAreServed }: CheckedDomain) {
  const tracking = trackingHostOf(domain, linkPlace)
  if (!tracking || linksAreServed === undefined) return undefined
  return { subdomain: domain.trackingSubdomain!, servedUnder: linksAreServed ? tracking.baseUrl : null }
}

async function inquire(
  { mailHost, inquiries, linkPlace, visitHost: visit }: CheckerOptions,
  domain: DomainWithKeys,
): Promise<CheckedDomain> {
  const records = allRecordsOf(domain, mailHost, linkPlace)
  const inquiry = inquiries.open()
  try {
    return await checkDomain({
      ...{ mailHost, records, inquiry },
      domain: domain.name,
      selectors: domain.keys.map(key => ({
        record: records.find(({ record }) => record === `DKIM ${key.slot}`)!,
        publicKey: publishedKeyOf(key),
      })),
      receiving: domain.receiving === 1,
      tracking: trackingHostOf(domain, linkPlace),
      visit,
      former: domain.checks === null ? null : (JSON.parse(domain.checks) as DomainChecks),
      laboratory: isLaboratory(mailHost),
    })
  } finally {
    inquiry.close()
  }
}

function outcomeOf({ ownership, selectors }: CheckedDomain, { keys }: DomainWithKeys): CheckOutcome {
  const active = activeIndex(keys)
  const standings = [ownership, ...(active < 0 ? [] : [selectors[active]!])]
  if (standings.includes('gone')) return 'gone'
  return active >= 0 && standings.every(standing => standing === 'right') ? 'good' : 'unknown'
}

/**
 * Returns the index of the RSA key that signs, or that will sign after the verification; -1 if there is none.
 */
function activeIndex(keys: DomainWithKeys['keys']): number {
  const isRsa = ({ algorithm, retiredAt }: (typeof keys)[number]) =>
    algorithm === 'rsa-sha256' && retiredAt === null
  const active = keys.findIndex(key => isRsa(key) && key.activeFrom !== null)
  return active >= 0 ? active : keys.findIndex(isRsa)
}

function toldOf(checks: DomainChecks, { domain, verifiedElsewhere }: CheckedDomainRow): DomainChecks {
  if (!verifiedElsewhere) return checks
  const message = `The DNS records are correct, but ${domain.name} is already verified or claimed by another account. Claim it, or delete it there first.`
  return {
    ...checks,
    ownership: withProblems(checks.ownership, [{ code: 'verified_elsewhere', message }]),
  }
}
