/** Getting started: the first steps, which are checked off automatically. */
import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { isOperator, signedIn } from '../api/session.ts'
import type { Email, Installation } from '../api/types.ts'
import { Button, LinkButton, TextField } from '../components/controls.tsx'
import { useAct } from '../components/dialog.tsx'
import { Failure, Note, Waiting } from '../components/feedback.tsx'
import { Head, Mark } from '../components/show.tsx'
import { Step } from '../components/step.tsx'
import { EMAIL_WORDS } from '../labels/status.ts'
import { type Progress, STEPS } from '../labels/steps.ts'
import { AddDomain } from './domains.tsx'
import { useProgress } from './first-steps.tsx'
import { UseKey } from './keys.tsx'
import { MachineCard } from './machine-card.tsx'

const LIVE_MS = 4_000
const FAST_MS = 1_000

export function Start() {
  return <Guide withServer />
}

/** The checklist alone, in place of an Overview without anything to show. */
export function FirstRun() {
  return <Guide />
}

function Guide({ withServer }: { withServer?: boolean }) {
  const progress = useProgress(LIVE_MS)
  const { data: installation, error, reload } = useLoad<Installation>('/installation')
  return (
    <>
      <Head
        title="First steps"
        lead="Set up Mailhorn and send your first email. Steps are checked off automatically, in any order."
      />
      {error && <Failure error={error} retry={reload} />}
      {progress && installation ? (
        <Checklist progress={progress} installation={installation} />
      ) : (
        !error && <Waiting />
      )}
      {withServer && isOperator() && progress && installation && <MachineCard installation={installation} />}
    </>
  )
}

/** One step is open at first: the first that is not done. */
function Checklist({ progress, installation }: { progress: Progress; installation: Installation }) {
  const [next] = useState(() => STEPS.find(([step]) => !progress[step])?.[0])
  return (
    <ol class="steps">
      <TestStep progress={progress} isOpen={next === 'tested'} installation={installation} />
      <DomainStep progress={progress} isOpen={next === 'verified'} installation={installation} />
      <KeyStep progress={progress} isOpen={next === 'key'} />
      <RealStep progress={progress} isOpen={next === 'sent'} />
    </ol>
  )
}

interface CheckedProps {
  progress: Progress
  isOpen: boolean
}

function TestStep({ progress, isOpen, installation }: CheckedProps & { installation: Installation }) {
  const to = `delivered@${installation.simulator_domain}`
  return (
    <Step number={1} title="Send a test email to the simulator" isDone={progress.tested} isOpen={isOpen}>
      <p class="quiet">
        The simulator is a built-in test recipient. Emails to it are processed like real ones but never leave
        this server. You do not need a domain.
      </p>
      <SendTest
        to={to}
        from="you@example.com"
        act={progress.tested ? 'Send another test email' : 'Send test email'}
      />
    </Step>
  )
}

function DomainStep({ progress, isOpen, installation }: CheckedProps & { installation: Installation }) {
  const [isAdding, setAdding] = useState(false)
  const { domain, verified } = progress
  const found = domain?.records.filter(({ status }) => status === 'verified').length ?? 0
  return (
    <Step number={2} title="Verify a domain" isDone={verified} isOpen={isOpen}>
      <p class="quiet">
        Receivers authenticate email by the DNS records of its domain. Add six records once; DKIM keys are
        rotated automatically.
      </p>
      {installation.laboratory && (
        <Note tone="warn">
          <p>
            <b>No public host name is configured</b> (<code>mail_host</code> is{' '}
            <code>{installation.mail_host}</code>), so its DNS records cannot be resolved. You can try
            everything with the simulator.{' '}
            {isOperator() ? (
              <Link href="/setup">Set up the host name.</Link>
            ) : (
              'The operator has to configure it before you can send to the internet.'
            )}
          </p>
        </Note>
      )}
      {domain && (
        <p>
          <Link href={`/domains/${domain.id}`}>
            <b>{domain.name}</b>
          </Link>
          :{' '}
          {verified
            ? 'verified.'
            : `${found} of ${domain.records.length} records verified. They are checked automatically.`}
        </p>
      )}
      <div class="row">
        {domain && !verified && (
          <LinkButton href={`/domains/${domain.id}`} kind="main">
            View DNS records
          </LinkButton>
        )}
        {!domain && (
          <Button kind="main" icon="plus" onClick={() => setAdding(true)}>
            Add domain
          </Button>
        )}
      </div>
      {isAdding && <AddDomain onClose={() => setAdding(false)} />}
    </Step>
  )
}

function KeyStep({ progress, isOpen }: CheckedProps) {
  return (
    <Step number={3} title="Send with an API key" isDone={progress.key} isOpen={isOpen}>
      <p class="quiet">
        Applications authenticate with an API key. The first one was printed to the console at the first
        start. Any Resend SDK works: only change its base URL.
      </p>
      <div class="row">
        <LinkButton href="/keys?add=1" {...(!progress.key && { kind: 'main' as const })}>
          Create API key
        </LinkButton>
        <span class="row" role="status">
          <span class={progress.key ? 'dot' : 'dot is-waiting'} />
          {progress.key ? 'The first request was received.' : 'Waiting for the first request …'}
        </span>
      </div>
      <UseKey token="re_…" />
    </Step>
  )
}

function RealStep({ progress: { verified, domain, sent }, isOpen }: CheckedProps) {
  return (
    <Step number={4} title="Deliver your first real email" isDone={sent} isOpen={isOpen}>
      <p class="quiet">
        {verified
          ? 'Send an email to yourself and follow its delivery.'
          : 'Verify a domain to send to real recipients.'}
      </p>
      {verified && domain && (
        <SendTest
          to={signedIn().user.email}
          from={`hello@${domain.name}`}
          isFree
          act={sent ? 'Send another email' : 'Send email'}
        />
      )}
    </Step>
  )
}

interface SendTestProps {
  from: string
  to: string
  /** Whether the recipient can be changed. */
  isFree?: boolean
  act: string
}

/** Sends an email and shows its delivery live. */
function SendTest({ from, to: wanted, isFree, act }: SendTestProps) {
  const [to, setTo] = useState(wanted)
  const [id, setId] = useState<string>()
  const { error, isBusy, run } = useAct(async () => {
    const sent = await call<{ id: string }>('POST', '/emails', {
      ...{ from: `Mailhorn <${from}>`, to, subject: 'Hello from Mailhorn' },
      text: 'It works.\n',
      html: '<h1 style="font-family:Georgia,serif">It works.</h1><p>This email was sent by Mailhorn.</p>',
    })
    setId(sent.id)
  })
  return (
    <form
      class="stack stack-tight"
      onSubmit={event => {
        event.preventDefault()
        void run()
      }}
    >
      {isFree && (
        <TextField label="To" type="email" required value={to} onValue={setTo} fault={error?.of('to')} />
      )}
      <div class="row">
        <Button type="submit" kind="main" icon="emails" disabled={isBusy}>
          {act}
        </Button>
        {id && <Fate id={id} />}
      </div>
      {error && error.of('to') === undefined && <Failure error={error} act="The email was not sent" />}
    </form>
  )
}

function Fate({ id }: { id: string }) {
  const { data } = useLoad<Email>(`/emails/${id}`, { everyMs: FAST_MS })
  if (!data) return null
  const { label, tone, meaning } = EMAIL_WORDS[data.status]
  return (
    <span class="row" role="status">
      <Mark tone={tone}>{label}</Mark>
      <span class="quiet small">{meaning}</span>
      <Link href={`/emails/${id}`}>View email</Link>
    </span>
  )
}
