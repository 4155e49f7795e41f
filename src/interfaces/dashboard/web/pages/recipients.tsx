/** Delivery status of each recipient, with the SMTP transcript of every attempt. */
import { Link } from 'wouter-preact'
import { call, withQuery } from '../api/client.ts'
import { isOperator } from '../api/session.ts'
import type { Attempt, Email, Recipient } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { confirm } from '../components/dialog.tsx'
import { say } from '../components/feedback.tsx'
import { Icon } from '../components/icons.tsx'
import { Card, Mark, Time } from '../components/show.tsx'
import { counted } from '../labels/numbers.ts'
import { domainIn } from '../labels/places.ts'
import { phaseLabel, phaseMeaning, securityWords } from '../labels/replies.ts'
import { EMAIL_WORDS } from '../labels/status.ts'
import { clockTime } from '../labels/time.ts'

/** Why a message is in its state, what can be done, and when it is tried next. */
export function Reason({ explanation: { code, summary, action, next_attempt_at } }: ReasonProps) {
  return (
    <>
      {/[.!?]$/.test(summary) ? summary : `${summary}.`}
      {action && ` ${action}`}
      {next_attempt_at && code !== 'scheduled' && (
        <>
          {' '}
          Next attempt: <Time at={next_attempt_at} />.
        </>
      )}
    </>
  )
}

interface ReasonProps {
  explanation: Email['explanation']
}

/** Last reply of an MX host to a recipient; nothing before there is one. */
export function HostReply({ mx_host, reply }: Pick<Recipient, 'mx_host' | 'reply'>) {
  if (!reply) return null
  return (
    <p class="mono quiet">
      {mx_host && `${mx_host}: `}
      {reply}
    </p>
  )
}

export function Recipients({ email, reload }: { email: Email; reload: () => void }) {
  const isOnly = email.recipients.length === 1
  return (
    <Card title="Delivery" lead={isOnly ? undefined : counted(email.recipients.length, 'recipient')} flush>
      {email.recipients.map(recipient => (
        <RecipientRow key={recipient.address} {...{ email, recipient, isOnly, reload }} />
      ))}
    </Card>
  )
}

const WAITING: ReadonlySet<Recipient['status']> = new Set(['queued', 'sent', 'delivery_delayed'])

interface RecipientRowProps {
  email: Email
  recipient: Recipient
  /** The reason of the only recipient stands at the head of the page. */
  isOnly: boolean
  reload: () => void
}

function RecipientRow({ email, recipient, isOnly, reload }: RecipientRowProps) {
  const { address, kind, status, explanation, mx_host, reply, suppression, transcripts } = recipient
  const { label, tone } = EMAIL_WORDS[status]
  return (
    <div class="recipient stack">
      <div class="row row-apart">
        <span class="row">
          <span>
            <b>{address}</b>
            {kind !== 'to' && <span class="quiet"> ({kind})</span>}
          </span>
          <Mark tone={tone}>{label}</Mark>
        </span>
        <span class="row">
          {isOperator() && WAITING.has(status) && (
            <Link href={withQuery('/queue', { domain: domainIn(address) })}>View queue</Link>
          )}
          {suppression && <Link href={withQuery('/suppressions', { q: address })}>View suppression</Link>}
          <WaitingActs {...{ email, recipient, reload }} />
        </span>
      </div>
      {!isOnly && (
        <p>
          <Reason explanation={explanation} />
        </p>
      )}
      <HostReply {...{ mx_host, reply }} />
      {transcripts.length > 0 && (
        <details open={isOnly && transcripts.length === 1 && status !== 'delivered'}>
          <summary class="small quiet">{attemptWords(transcripts)}</summary>
          <ol class="stack" style={{ marginTop: '12px' }}>
            {transcripts.map(attempt => (
              <li key={attempt.attempt}>
                <Transcript attempt={attempt} />
              </li>
            ))}
          </ol>
        </details>
      )}
    </div>
  )
}

/** The simulator, and what fails before a connection, have no transcript. */
function attemptWords(attempts: readonly Attempt[]): string {
  const hasTalk = attempts.some(({ hosts }) => hosts.length > 0)
  return `${counted(attempts.length, 'attempt')}${hasTalk ? ' (SMTP transcript)' : ''}`
}

/** Tries a recipient that waits now, or gives it up. */
function WaitingActs({ email: { id }, recipient, reload }: Omit<RecipientRowProps, 'isOnly'>) {
  const { address, status, explanation } = recipient
  const isWaiting = status === 'queued' || status === 'delivery_delayed'
  if (!isWaiting || explanation.code === 'in_progress') return null
  const retry = async () => {
    await call('POST', `/emails/${id}/retry`, { recipient: address })
    say('The delivery is due now.')
    reload()
  }
  const giveUp = () =>
    confirm({
      title: `Give up the delivery to ${address}?`,
      text: 'It is not tried again. This cannot be undone, but you can resend the email.',
      act: 'Give up',
      async work() {
        await call('POST', `/emails/${id}/give-up`, { recipient: address })
        say('The delivery was given up.')
        reload()
      },
    })
  return (
    <>
      {explanation.next_attempt_at && (
        <Button small icon="again" onClick={retry}>
          Try now
        </Button>
      )}
      <Button small onClick={giveUp}>
        Give up
      </Button>
    </>
  )
}

function Transcript({ attempt }: { attempt: Attempt }) {
  const { attempt: number, at, outcome, hosts } = attempt
  return (
    <div class="stack stack-tight">
      <div class="row">
        <b>Attempt {number}</b>
        <span class="quiet">
          <Time at={at} />
        </span>
        <Mark tone={OUTCOMES[outcome].tone}>{OUTCOMES[outcome].label}</Mark>
      </div>
      {hosts.length === 0 && attempt.reply && <p class="mono quiet">{attempt.reply}</p>}
      {hosts.map(host => (
        <details class="talk" key={`${host.host} ${host.ip}`} open={hosts.length === 1}>
          <summary>
            <Icon name="destinations" size={13} />{' '}
            {[`${host.host} (${host.ip})`, securityWords(host)].filter(Boolean).join(', ')}
          </summary>
          {host.tls_fallback && <p class="small quiet">Sent without encryption: {host.tls_fallback}</p>}
          <table>
            <caption class="unseen">
              SMTP transcript with {host.host} at {clockTime(at)}
            </caption>
            <tbody>
              {host.phases.map(({ phase, ms, reply }) => (
                <tr key={phase}>
                  <th scope="row" title={phaseMeaning(phase)}>
                    {phaseLabel(phase)}
                  </th>
                  <td class="mono">{reply ?? ''}</td>
                  <td class="number">{ms} ms</td>
                </tr>
              ))}
              {host.phases.length === 0 && (
                <tr>
                  <td class="mono">{host.reply}</td>
                </tr>
              )}
            </tbody>
          </table>
        </details>
      ))}
    </div>
  )
}

const OUTCOMES = {
  delivered: { label: 'Accepted', tone: 'good' },
  deferred: { label: 'Deferred', tone: 'warn' },
  bounced: { label: 'Rejected', tone: 'bad' },
  unknown: { label: 'Unknown', tone: 'none' },
} as const
