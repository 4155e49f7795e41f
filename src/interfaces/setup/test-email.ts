/**
 * Sends the test email that shows whether the server can send, once the DNS records of the sender's domain
 * are found. Called for `mailhorn email test` and for the wizard of the dashboard.
 */
import { type Id, wireId } from '../../lib/ids.ts'
import type { Accept } from '../../pipeline/accept/accept.ts'
import type { Preparation } from '../../pipeline/accept/prepare.ts'
import { isRefusal } from '../../pipeline/accept/refusal.ts'
import { newSubmission } from '../../pipeline/accept/submission.ts'
import type { Mailbox } from '../../protocols/smtp/address.ts'
import { VERIFIED_STATUSES } from '../../resources/domains/domain-rows.ts'
import type { Domains } from '../../resources/domains/domains.ts'
import type { DomainChecks } from '../../resources/domains/verify.ts'

export const RECIPIENTS_MAX = 10

const TEXT = `This is a test email of Mailhorn.

If you read it, the server can send. In the original of this message, the results for SPF, DKIM and DMARC
are in the field Authentication-Results; each of them should be "pass".
`

/** Parts of the running service that check a domain and send. */
export interface TestParts {
  domains: Pick<Domains, 'verify'>
  accept: Pick<Accept, 'send'>
  preparation: Pick<Preparation, 'email'>
}

export interface TestSender {
  from: Mailbox
  domainId: Id
  accountId: Id
}

/** In the spelling of the API. */
export interface TestedEmail {
  /** Null if records are missing, so that nothing was sent. */
  id: string | null
  from: string
  domain: string
  /** DNS records that were not found. */
  missing: { host: string; advice: string }[]
}

/** The email was not sent. The message is for the operator. */
export class TestEmailRefused extends Error {}

interface TestEmail {
  to: Mailbox[]
  /** Whether SPF and MX records must be found, too, which mail is accepted without. */
  needsAll: boolean
}

/** @throws TestEmailRefused */
export async function sendTestEmail(
  parts: TestParts,
  sender: TestSender,
  { to, needsAll }: TestEmail,
): Promise<TestedEmail> {
  const missing = await missingRecords(parts, sender, needsAll)
  const facts = { from: sender.from.address, domain: sender.from.domain, missing }
  return { ...facts, id: missing.length > 0 ? null : await send(parts, sender, to) }
}

/** @throws TestEmailRefused */
async function missingRecords(
  { domains }: TestParts,
  { accountId, domainId, from }: TestSender,
  needsAll: boolean,
): Promise<TestedEmail['missing']> {
  const checked = await domains.verify(accountId, domainId)
  if (!checked) throw new TestEmailRefused(`The domain ${from.domain} was deleted.`)
  const isVerified = VERIFIED_STATUSES.some(status => status === checked.domain.status)
  if (isVerified && !needsAll) return []
  return faultsIn(checked.checks, from.domain)
}

function faultsIn({ ownership, dkim, spf, mx }: DomainChecks, domain: string) {
  const checks = [
    { host: `_svc.${domain}`, ...ownership },
    ...dkim.selectors,
    { host: `send.${domain}`, ...spf },
    { host: `send.${domain}`, ...mx },
  ]
  return checks.flatMap(({ host, status, advice }) =>
    status === 'verified' ? [] : [{ host, advice: advice ?? 'The record has not been found yet.' }],
  )
}

/** @throws TestEmailRefused */
async function send(
  { accept, preparation }: TestParts,
  { accountId, from }: TestSender,
  to: Mailbox[],
): Promise<string> {
  const mail = newSubmission({ from, to, subject: `Test email from ${from.domain}`, text: TEXT })
  const prepared = await preparation.email(accountId, mail)
  const accepted = await accept.send({ accountId, apiKeyId: null, domain: null }, prepared, null)
  if (isRefusal(accepted)) throw new TestEmailRefused(accepted.message)
  return wireId('eml', accepted.ids[0]!)
}
