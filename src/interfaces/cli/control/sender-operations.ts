/**
 * Operations that lead to the first email: a domain is added, and a test email is sent from it. Only the
 * running service carries them out, because it checks DNS and delivers.
 */
import * as z from 'zod'
import { type Id, wireId } from '../../../lib/ids.ts'
import { isRefusal } from '../../../pipeline/accept/refusal.ts'
import { newSubmission } from '../../../pipeline/accept/submission.ts'
import { type Mailbox, parseDomain, parseMailbox } from '../../../protocols/smtp/address.ts'
import { VERIFIED_STATUSES } from '../../../resources/domains/domain-rows.ts'
import type { DomainChecks } from '../../../resources/domains/verify.ts'
import { domainsNamed } from './key-operations.ts'
import { type OperationContext, OperationRefused, operation, type RunningSender } from './operation.ts'
import { accountOf } from './user-operations.ts'

const RECIPIENTS_MAX = 10
const address = z.string().max(1_000)
const TEXT = `This email was sent by the command "mailhorn email test".

If you read it, the server can send. In the original of this message, the results for SPF, DKIM and DMARC
are in the field Authentication-Results; each of them should be "pass".
`

export const senderOperations = {
  /** Adds a domain to the given account, or to the only one. Returns the one that is there already. */
  'domain.add': operation(
    z.object({ name: z.string().max(1_000), account_id: z.string().nullable() }),
    async (context, { name, account_id: accountText }) => {
      const { domains, registration } = running(context)
      const accountId = await accountOf(context, accountText)
      const domain = parseDomain(name.trim())
      const [known] = domain === undefined ? [] : await domainsNamed(context.db, domain, accountId)
      const found = known && (await domains.find(accountId, known.id))
      return found ? registration.view(found) : await registration.register(accountId, { name })
    },
  ),

  /**
   * Sends a test email once the DNS records of the sender's domain are found. Returns those that are not.
   */
  'email.test': operation(
    z.object({
      to: z.array(address).min(1).max(RECIPIENTS_MAX),
      /** Null for an address at the only domain. */
      from: address.nullable(),
      account_id: z.string().nullable(),
      /** Whether SPF and MX records must be found, too, which mail is accepted without. */
      all_records: z.boolean(),
    }),
    async (context, { to, from, account_id: accountText, all_records: needsAll }) => {
      const sender = running(context)
      const recipients = to.map(text => readMailbox(text))
      const accountId = accountText === null ? null : await accountOf(context, accountText)
      const chosen = await senderOf(context, from, accountId)
      const missing = await missingRecords(sender, chosen, needsAll)
      const facts = { from: chosen.from.address, domain: chosen.from.domain, missing }
      if (missing.length > 0) return { ...facts, id: null }
      return { ...facts, id: await send(sender, chosen, recipients) }
    },
  ),
}

/** @throws OperationRefused */
function running({ sender }: OperationContext): RunningSender {
  if (sender) return sender
  throw new OperationRefused(
    'The service is not running. Start it first, such as by `systemctl start mailhorn`.',
  )
}

interface ChosenSender {
  from: Mailbox
  domainId: Id
  accountId: Id
}

/** @throws OperationRefused */
async function senderOf(
  { db }: OperationContext,
  text: string | null,
  accountId: Id | null,
): Promise<ChosenSender> {
  if (text === null) return onlySender(db, accountId)
  const from = readMailbox(text)
  const [domain] = await domainsNamed(db, from.domain, accountId)
  if (domain) return { from, domainId: domain.id, accountId: domain.accountId }
  throw new OperationRefused(
    `There is no domain ${from.domain}. Add it with \`mailhorn domains add ${from.domain}\`.`,
  )
}

/**
 * Returns an address at the only verified domain, or at the only domain while none is verified.
 * @throws OperationRefused
 */
async function onlySender(db: OperationContext['db'], accountId: Id | null): Promise<ChosenSender> {
  const some = db
    .selectFrom('domains')
    .select(['id', 'accountId', 'name'])
    .$if(accountId !== null, query => query.where('accountId', '=', accountId!))
    .orderBy('id')
    .limit(2)
  const verified = await some.where('status', 'in', VERIFIED_STATUSES).execute()
  const [domain, another] = verified.length > 0 ? verified : await some.execute()
  if (!domain)
    throw new OperationRefused('There is no domain yet. Add one with `mailhorn domains add <name>`.')
  if (another)
    throw new OperationRefused(
      `There are several domains, such as ${domain.name} and ${another.name}. Name the sender with --from.`,
    )
  const from = readMailbox(`mailhorn@${domain.name}`)
  return { from, domainId: domain.id, accountId: domain.accountId }
}

/** @throws OperationRefused */
async function missingRecords(
  { domains }: RunningSender,
  { accountId, domainId, from }: ChosenSender,
  needsAll: boolean,
): Promise<{ host: string; advice: string }[]> {
  const checked = await domains.verify(accountId, domainId)
  if (!checked) throw new OperationRefused(`The domain ${from.domain} was deleted.`)
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

/** @throws OperationRefused */
async function send(
  { accept, preparation }: RunningSender,
  { accountId, from }: ChosenSender,
  to: Mailbox[],
): Promise<string> {
  const mail = newSubmission({ from, to, subject: `Test email from ${from.domain}`, text: TEXT })
  const prepared = await preparation.email(accountId, mail)
  const accepted = await accept.send({ accountId, apiKeyId: null, domain: null }, prepared, null)
  if (isRefusal(accepted)) throw new OperationRefused(accepted.message)
  return wireId('eml', accepted.ids[0]!)
}

/** @throws OperationRefused */
function readMailbox(text: string): Mailbox {
  const mailbox = parseMailbox(text.trim())
  if ('fault' in mailbox) throw new OperationRefused(`The address "${text.trim()}" ${mailbox.fault}.`)
  return mailbox
}
