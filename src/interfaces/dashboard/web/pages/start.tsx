/** From nothing to a delivered mail, in steps that check themselves. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Email, Installation } from '../api/types.ts'
import { Button, LinkButton, TextField } from '../components/controls.tsx'
import { useAct } from '../components/dialog.tsx'
import { Failure, Note, Waiting } from '../components/feedback.tsx'
import { Icon } from '../components/icons.tsx'
import { Card, Head, Mark } from '../components/show.tsx'
import { EMAIL_WORDS } from '../labels/status.ts'
import type { Progress } from '../labels/steps.ts'
import { isOperator, signedIn } from '../shell/session.ts'
import { AddDomain } from './domains.tsx'
import { useProgress } from './first-steps.tsx'
import { UseKey } from './keys.tsx'
import { MachineCard } from './machine-card.tsx'

const LIVE_MS = 4_000
const FAST_MS = 1_000

export function Start() {
  const progress = useProgress(LIVE_MS)
  const { data: installation, error, reload } = useLoad<Installation>('/installation')
  return (
    <>
      <Head
        title="First steps"
        lead="From nothing to a delivered mail. Each step ticks itself; do them in any order."
      />
      {error && <Failure error={error} retry={reload} />}
      {progress && installation ? (
        <Card flush>
          <ol class="steps">
            <TestStep progress={progress} installation={installation} />
            <DomainStep progress={progress} installation={installation} />
            <KeyStep progress={progress} />
            <RealStep progress={progress} />
          </ol>
        </Card>
      ) : (
        !error && <Waiting />
      )}
      {isOperator() && installation && <MachineCard installation={installation} />}
    </>
  )
}

interface StepProps {
  number: number
  title: string
  isDone: boolean
  children: ComponentChildren
}

function Step({ number, title, isDone, children }: StepProps) {
  return (
    <li class={isDone ? 'is-done' : ''}>
      <span class="step-mark">{isDone ? <Icon name="check" size={16} /> : number}</span>
      <div class="stack">
        <h2>
          {title}
          {isDone && <span class="unseen"> (done)</span>}
        </h2>
        {children}
      </div>
    </li>
  )
}

function TestStep({ progress, installation }: { progress: Progress; installation: Installation }) {
  const to = `delivered@${installation.simulator_domain}`
  return (
    <Step number={1} title="Send a test to the simulator" isDone={progress.tested}>
      <p class="quiet">
        The simulator is a recipient inside this machine. Mail to it goes through everything that real mail
        does, and never leaves. It needs no domain.
      </p>
      <SendTest to={to} from="you@example.com" act={progress.tested ? 'Send another' : 'Send the test'} />
    </Step>
  )
}

function DomainStep({ progress, installation }: { progress: Progress; installation: Installation }) {
  const [isAdding, setAdding] = useState(false)
  const { domain, verified } = progress
  const found = domain?.records.filter(({ status }) => status === 'verified').length ?? 0
  return (
    <Step number={2} title="Verify a domain of yours" isDone={verified}>
      <p class="quiet">
        Receivers believe mail only if the domain it comes from vouches for it. You copy six records into its
        DNS, once; keys change later without you.
      </p>
      {installation.laboratory && (
        <Note tone="warn">
          <p>
            <b>This installation has no name of its own yet</b> (<code>mail_host</code> is{' '}
            <code>{installation.mail_host}</code>), so the world cannot look up its records. Everything can be
            tried out with the simulator.{' '}
            {isOperator()
              ? 'How it gets one is told below.'
              : 'Its operator has to give it one before mail can go to the world.'}
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
            : `${found} of ${domain.records.length} records found so far. Looked up again and again.`}
        </p>
      )}
      <div class="row">
        {domain && !verified && (
          <LinkButton href={`/domains/${domain.id}`} kind="main">
            See its records
          </LinkButton>
        )}
        {!domain && (
          <Button kind="main" icon="plus" onClick={() => setAdding(true)}>
            Add a domain
          </Button>
        )}
      </div>
      {isAdding && <AddDomain onClose={() => setAdding(false)} />}
    </Step>
  )
}

function KeyStep({ progress }: { progress: Progress }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Step number={3} title="Send from your program" isDone={progress.key}>
      <p class="quiet">
        Programs sign in with an API key. The console of the first start has shown you one; here you make
        more. Any Resend SDK works: only its address changes.
      </p>
      <div class="row">
        <LinkButton href="/keys?add=1" {...(!progress.key && { kind: 'main' as const })}>
          Make a key
        </LinkButton>
        <Button kind="plain" onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide the example' : 'Show an example'}
        </Button>
      </div>
      {isOpen && <UseKey token="re_…" />}
    </Step>
  )
}

function RealStep({ progress: { verified, domain, sent } }: { progress: Progress }) {
  return (
    <Step number={4} title="Deliver a first real mail" isDone={sent}>
      <p class="quiet">
        {verified
          ? 'Send one to yourself, and watch how the receiving server takes it.'
          : 'As soon as a domain is verified, you can send to the world.'}
      </p>
      {verified && domain && (
        <SendTest
          to={signedIn().user.email}
          from={`hello@${domain.name}`}
          isFree
          act={sent ? 'Send another' : 'Send it'}
        />
      )}
    </Step>
  )
}

interface SendTestProps {
  from: string
  to: string
  /** The recipient can be another. */
  isFree?: boolean
  act: string
}

/** Sends, and shows what becomes of it as it happens. */
function SendTest({ from, to: wanted, isFree, act }: SendTestProps) {
  const [to, setTo] = useState(wanted)
  const [id, setId] = useState<string>()
  const { error, isBusy, run } = useAct(async () => {
    const sent = await call<{ id: string }>('POST', '/emails', {
      ...{ from: `Mailhorn <${from}>`, to, subject: 'Hello from Mailhorn' },
      text: 'It works.\n',
      html: '<h1 style="font-family:Georgia,serif">It works.</h1><p>This mail was sent by Mailhorn.</p>',
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
      {error && error.of('to') === undefined && <Failure error={error} act="It was not sent" />}
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
      <Link href={`/emails/${id}`}>See what happened</Link>
    </span>
  )
}
