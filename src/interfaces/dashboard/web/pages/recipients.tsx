/** Delivery status of each recipient, with the SMTP transcript of every attempt. */
import type { Attempt, Email, Recipient } from '../api/types.ts'
import { Icon } from '../components/icons.tsx'
import { Card, Mark, Time } from '../components/show.tsx'
import { counted } from '../labels/numbers.ts'
import { meaningOf, phaseLabel, phaseMeaning, securityWords } from '../labels/replies.ts'
import { EMAIL_WORDS } from '../labels/status.ts'
import { clockTime } from '../labels/time.ts'

export function Recipients({ email }: { email: Email }) {
  return (
    <Card
      title="Delivery"
      lead={email.recipients.length > 1 ? counted(email.recipients.length, 'recipient') : undefined}
      flush
    >
      {email.recipients.map(recipient => (
        <RecipientRow key={recipient.address} recipient={recipient} isOpen={email.recipients.length === 1} />
      ))}
    </Card>
  )
}

function RecipientRow({ recipient, isOpen }: { recipient: Recipient; isOpen: boolean }) {
  const { address, kind, status, mx_host, reply, next_attempt_at, transcripts } = recipient
  const { label, tone } = EMAIL_WORDS[status]
  const explained = meaningOf(reply)
  return (
    <div class="recipient stack">
      <div class="row row-apart">
        <span>
          <b>{address}</b>
          {kind !== 'to' && <span class="quiet"> ({kind})</span>}
        </span>
        <Mark tone={tone}>{label}</Mark>
      </div>
      <p>
        {sentence(recipient)}
        {explained && <b> {explained}</b>}
        {next_attempt_at && (
          <>
            {' '}
            Next attempt: <Time at={next_attempt_at} />.
          </>
        )}
      </p>
      {reply && (
        <p class="mono quiet">
          {mx_host && `${mx_host}: `}
          {reply}
        </p>
      )}
      {transcripts.length > 0 && (
        <details open={isOpen && transcripts.length === 1 && status !== 'delivered'}>
          <summary class="small quiet">{counted(transcripts.length, 'attempt')} (SMTP transcript)</summary>
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

function sentence({ status, mx_host, attempts }: Recipient): string {
  const server = mx_host ?? 'the receiving server'
  switch (status) {
    case 'delivered':
      return `${capital(server)} accepted the message${attempts > 1 ? ` on attempt ${attempts}` : ''}.`
    case 'complained':
      return 'The message was delivered, and the recipient marked it as spam. The address is now suppressed.'
    case 'bounced':
      return `${capital(server)} permanently rejected the message.`
    case 'delivery_delayed':
      return `${capital(server)} deferred the message after ${counted(attempts, 'attempt')}.`
    case 'suppressed':
      return 'The message was not sent because the address is on your suppression list.'
    case 'failed':
      return `Delivery failed after ${counted(attempts, 'attempt')}.`
    case 'canceled':
      return 'The message was canceled before it was sent.'
    case 'scheduled':
      return 'The message is scheduled and has not been sent yet.'
    case 'sent':
      return 'Delivery is in progress.'
    default:
      return 'The message is waiting for its first delivery attempt.'
  }
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
            <Icon name="destinations" size={13} /> {host.host} ({host.ip}),{' '}
            {securityWords(host.tls, host.policy)}
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

function capital(text: string): string {
  return text.startsWith('the ') ? `T${text.slice(1)}` : text
}
