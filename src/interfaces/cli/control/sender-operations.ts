/**
 * Operations that lead to the first email: a domain is added, and a test email is sent from it. Only the
 * running service carries them out, because it checks DNS and delivers.
 */
import * as z from 'zod'
import type { Id } from '../../../lib/ids.ts'
import { type Mailbox, parseDomain, parseMailbox } from '../../../protocols/smtp/address.ts'
import { domainsNamed, VERIFIED_STATUSES } from '../../../resources/domains/domain-rows.ts'
import { RECIPIENTS_MAX, sendTestEmail, TestEmailRefused, type TestSender } from '../../setup/test-email.ts'
import { type OperationContext, OperationRefused, operation, type RunningSender } from './operation.ts'
import { accountOf } from './user-operations.ts'

const address = z.string().max(1_000)

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
      try {
        return await sendTestEmail(sender, chosen, { to: recipients, needsAll })
      } catch (error) {
        if (!(error instanceof TestEmailRefused)) throw error
        throw new OperationRefused(error.message)
      }
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

/** @throws OperationRefused */
async function senderOf(
  { db }: OperationContext,
  text: string | null,
  accountId: Id | null,
): Promise<TestSender> {
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
async function onlySender(db: OperationContext['db'], accountId: Id | null): Promise<TestSender> {
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
function readMailbox(text: string): Mailbox {
  const mailbox = parseMailbox(text.trim())
  if ('fault' in mailbox) throw new OperationRefused(`The address "${text.trim()}" ${mailbox.fault}.`)
  return mailbox
}
