/** Last step of the setup: waits until everything is ready, sends the first real email, and follows it. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Domain, Email, List, TestedEmail } from '../api/types.ts'
import { Button, LinkButton, TextField } from '../components/controls.tsx'
import { useAct } from '../components/dialog.tsx'
import { Failure, Note } from '../components/feedback.tsx'
import { Mark } from '../components/show.tsx'
import { Step } from '../components/step.tsx'
import { checkWords } from '../labels/checks.ts'
import { counted } from '../labels/numbers.ts'
import { type CheckedSetup, isReady } from '../labels/setup.ts'
import { EMAIL_WORDS } from '../labels/status.ts'
import { AddDomain } from './domains.tsx'
import { HostReply, Reason } from './recipients.tsx'

/** Interval at which the checks are repeated while the email waits for them. */
const CHECK_EVERY_MS = 10_000
const FOLLOW_EVERY_MS = 1_000

interface SetupEmailProps {
  number: number
  isOpen: boolean
  checked: CheckedSetup
  /** Proposed as the recipient. */
  contact: string
  check: () => void
}

export function SetupEmail({ number, isOpen, ...props }: SetupEmailProps) {
  const { data: domains, error, reload } = useLoad<List<Domain>>('/domains?limit=100', { on: 'domain.' })
  const [sentId, setSentId] = useState<string>()
  const [isAdding, setAdding] = useState(false)
  const domain = domains?.data.find(({ status }) => status === 'verified') ?? domains?.data[0]
  return (
    <Step number={number} title="Send the first email" isDone={sentId !== undefined} isOpen={isOpen}>
      {error && <Failure error={error} retry={reload} />}
      {domains && !domain && (
        <>
          <p class="quiet">Add the domain of your sender addresses first, and its DNS records.</p>
          <div class="row">
            <Button kind="main" icon="plus" onClick={() => setAdding(true)}>
              Add domain
            </Button>
          </div>
        </>
      )}
      {domain && <SendForm key={domain.id} domain={domain} onSent={setSentId} {...props} />}
      {sentId && <Delivery id={sentId} />}
      {isAdding && <AddDomain onClose={() => setAdding(false)} />}
    </Step>
  )
}

interface SendFormProps extends Pick<SetupEmailProps, 'checked' | 'contact' | 'check'> {
  domain: Domain
  onSent: (id: string) => void
}

function SendForm({ domain, onSent, checked, contact, check }: SendFormProps) {
  const [to, setTo] = useState(contact)
  const [from, setFrom] = useState(`mailhorn@${domain.name}`)
  const [isWaiting, setWaiting] = useState(false)
  const [missing, setMissing] = useState<TestedEmail['missing']>([])
  const needsAll = useRef(true)
  const { error, isBusy, run } = useAct(async () => {
    const tested = await call<TestedEmail>('POST', '/setup/test-email', {
      ...{ from, to: [to], all_records: needsAll.current },
    })
    setMissing(tested.missing)
    if (tested.id === null) return
    setWaiting(false)
    onSent(tested.id)
  })
  const send = (all: boolean) => {
    needsAll.current = all
    void run()
  }
  const { plan, report } = checked
  const canSend = report !== undefined && isReady(plan, report)
  // each run of the checks, by the interval or by the operator, is followed by an attempt
  useEffect(() => {
    if (isWaiting && canSend && !isBusy) send(true)
  }, [checked, isWaiting])
  useEffect(() => {
    if (!isWaiting) return
    const timer = setInterval(check, CHECK_EVERY_MS)
    return () => clearInterval(timer)
  }, [isWaiting])
  useEffect(() => {
    if (error) setWaiting(false)
  }, [error])
  return (
    <form
      class="stack"
      noValidate
      onSubmit={event => {
        event.preventDefault()
        setWaiting(true)
      }}
    >
      <div class="halves">
        <TextField
          label="To"
          type="email"
          value={to}
          onValue={setTo}
          hint="A mailbox of your own, such as one at Gmail."
          fault={error?.of('to')}
        />
        <TextField
          label="From"
          value={from}
          onValue={setFrom}
          hint="An address at a domain that you have added."
          fault={error?.of('from')}
        />
      </div>
      {isWaiting && <WaitsFor {...{ checked, missing, domain }} />}
      <div class="row">
        <Button type="submit" kind="main" icon="emails" disabled={isWaiting || isBusy}>
          {isWaiting ? 'Waiting …' : 'Send test email'}
        </Button>
        {isWaiting && <Button onClick={() => setWaiting(false)}>Stop waiting</Button>}
        {isWaiting && (
          <Button kind="plain" disabled={isBusy} onClick={() => send(false)}>
            Send without waiting
          </Button>
        )}
      </div>
      {error && !error.isShown && <Failure error={error} act="The email was not sent" />}
    </form>
  )
}

interface WaitsForProps {
  checked: CheckedSetup
  missing: TestedEmail['missing']
  domain: Domain
}

/** Says what is waited for: first the checks, then the records of the domain. */
function WaitsFor({ checked: { plan, report }, missing, domain }: WaitsForProps) {
  const failed = report?.findings.filter(({ status }) => status === 'failed') ?? []
  const names = [...new Set(failed.map(({ check }) => checkWords(check)))].join(', ')
  const isForRecords = report !== undefined && isReady(plan, report)
  return (
    <Note tone="info">
      <div role="status">
        {!isForRecords && (
          <p>
            <b>
              {failed.length > 0
                ? `${counted(failed.length, 'check fails', 'checks fail')}: ${names}.`
                : 'The service does not have the settings yet.'}
            </b>{' '}
            The email is sent when nothing fails any more. Checks are repeated every 10 seconds while this
            page is open.
          </p>
        )}
        {isForRecords && missing.length > 0 && (
          <p>
            <b>DNS records of {domain.name} are not found yet.</b> The email is sent when they are.
          </p>
        )}
      </div>
      {isForRecords && missing.length > 0 && (
        <>
          <ul>
            {missing.map(({ host, advice }) => (
              <li key={`${host} ${advice}`}>
                <span class="mono">{host}</span>: {advice}
              </li>
            ))}
          </ul>
          <p>
            <LinkButton href={`/domains/${domain.id}`}>View DNS records</LinkButton>
          </p>
        </>
      )}
    </Note>
  )
}

/** State of the email at each recipient: the reply of the MX host, or what to do. */
function Delivery({ id }: { id: string }) {
  const { data: email, error, reload } = useLoad<Email>(`/emails/${id}`, { everyMs: FOLLOW_EVERY_MS })
  if (error) return <Failure error={error} retry={reload} />
  if (!email) return null
  return (
    <section class="stack stack-tight" aria-label="Delivery" role="status">
      {email.recipients.map(({ address, status, explanation, mx_host, reply }) => (
        <div key={address} class="stack stack-tight">
          <div class="row">
            <b>{address}</b>
            <Mark tone={EMAIL_WORDS[status].tone}>{EMAIL_WORDS[status].label}</Mark>
            <Link href={`/emails/${id}`}>View email</Link>
          </div>
          <p>
            <Reason explanation={explanation} />
          </p>
          <HostReply {...{ mx_host, reply }} />
          {status === 'delivered' && (
            <p class="quiet">
              In the original of the message, SPF, DKIM and DMARC must say “pass”; at Gmail, this is “Show
              original”.
            </p>
          )}
        </div>
      ))}
    </section>
  )
}
