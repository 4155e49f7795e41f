/** `mailhorn email test`: sends the first email, and says what became of it at each recipient. */
import { parseWireId } from '../../lib/ids.ts'
import type { CliCommand, CommandInput, Installation } from './command.ts'
import { textOf } from './command.ts'
import type { OperationOutput } from './control/operation.ts'
import { CommandError, printable } from './control/result.ts'
import type { senderOperations } from './control/sender-operations.ts'
import { emailText, readEmail, type ShownEmail } from './email-commands.ts'
import { CHECK_INTERVAL_MS, waitForChecks } from './setup-commands.ts'

/** Interval at which the state of the email is read. */
const LOOK_EVERY_MS = 500
/** Without `--wait`, the time for a first reply of the MX hosts. */
const PATIENCE_MS = 60_000

type Tested = OperationOutput<(typeof senderOperations)['email.test']>

export const emailTestCommand: CliCommand = {
  name: 'email test',
  usage: '<to>… [--from <address>] [--account <id>] [--wait]',
  summary: 'Send a test email, and show the reply of the MX host or what to do',
  details: `  <to>             Up to 10 addresses, such as a mailbox of your own at Gmail.
  --from <address>  Sender, at a domain that was added; by default mailhorn@ the only verified domain.
  --account <id>    The account; required if several accounts have added the domain.
  --wait            First wait until no check of \`mailhorn doctor\` fails and all DNS records of the domain are found,
                    then until the email is delivered or bounced, also if it is deferred. What is missing is printed.

Without --wait, the command ends after the first reply of each MX host, or after a minute. Exits with code 1 unless all
recipients got the email.`,
  options: { from: { type: 'string' }, account: { type: 'string' }, wait: { type: 'boolean' } },
  positionals: { min: 1, max: 10 },
  async run(input) {
    const installation = await input.open()
    if (input.values.wait === true) await waitForChecks(input, installation.db)
    const email = await follow(input, installation, await sent(input, installation))
    return {
      json: email,
      text: emailText(email, installation.clock.now()),
      isBad: email.recipients.some(({ status }) => status !== 'delivered'),
    }
  },
}

/** @throws CommandError when records are missing and nobody waits for them */
async function sent(input: CommandInput, { change }: Installation): Promise<string> {
  const { values, positionals, say, pause } = input
  const isWaiting = values.wait === true
  for (let last = ''; ; await pause(CHECK_INTERVAL_MS)) {
    const tested = await change('email.test', {
      to: [...positionals],
      from: textOf(values.from),
      account_id: textOf(values.account),
      all_records: isWaiting,
    })
    if (tested.id !== null) {
      say(`Sent ${tested.id} from ${tested.from}.`)
      return tested.id
    }
    const text = missingText(tested)
    if (!isWaiting) throw new CommandError(`nothing was sent, because ${text}`)
    if (text !== last) say(`Waiting, because ${text}`)
    last = text
  }
}

function missingText({ domain, missing }: Tested): string {
  const lines = missing.map(({ host, advice }) => `  ${host}: ${printable(advice)}`)
  return [`DNS records of ${domain} are not found yet:`, ...lines].join('\n')
}

/** Reads the email until nothing of it is under way; says in between what keeps it. */
async function follow({ values, say, pause }: CommandInput, installation: Installation, id: string) {
  const endsAt = installation.clock.monotonic() + PATIENCE_MS
  for (let last = ''; ; await pause(LOOK_EVERY_MS)) {
    const email = await readEmail(installation, parseWireId('eml', id)!)
    if (!email) throw new CommandError(`Email ${id} was deleted.`)
    const open = email.recipients.filter(({ state }) => state !== 'done')
    const isTold = open.every(({ attempts, state }) => attempts > 0 && state !== 'under_way')
    if (open.length === 0) return email
    if (values.wait !== true && (isTold || installation.clock.monotonic() >= endsAt)) return email
    const text = isTold ? waitingText(open) : ''
    if (text !== last && text !== '') say(text)
    last = text
  }
}

function waitingText(recipients: ShownEmail['recipients']): string {
  return recipients
    .map(({ address, explanation: { summary, next_attempt_at: at } }) => {
      const next = at === null ? '' : ` Next attempt at ${at}.`
      return `${printable(address)}: ${printable(summary)}${next}`
    })
    .join('\n')
}
