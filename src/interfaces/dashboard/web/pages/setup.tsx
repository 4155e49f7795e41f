/** Go live: the setup of a public installation, from its host name to the first real email (operators). */
import { useEffect, useRef, useState } from 'preact/hooks'
import { type ApiError, call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Doctor, Setup, SetupPlan } from '../api/types.ts'
import { Button, Choices, TextField } from '../components/controls.tsx'
import { useAct } from '../components/dialog.tsx'
import { type Draft, useDraft } from '../components/draft.tsx'
import { Failure, Note, Pending } from '../components/feedback.tsx'
import { Head, Mark, Time } from '../components/show.tsx'
import { Step } from '../components/step.tsx'
import { pastedDomain } from '../labels/pasted-domain.ts'
import { type CheckedSetup, isReady, type SetupStep, stateOf } from '../labels/setup.ts'
import { SetupEmail } from './setup-email.tsx'
import { FirewallStep, Outcome, ProviderStep, RecordsStep, ServiceStep } from './setup-steps.tsx'

interface Answers {
  host: string
  addresses: string
  privateAddresses: string
  contact: string
  https: Setup['https']
  run: Setup['run']
}

export function SetupPage() {
  const setup = useLoad<Setup>('/setup')
  if (setup.data) return <Wizard known={setup.data} />
  return (
    <>
      <Head title="Go live" />
      <Pending of={setup} />
    </>
  )
}

function Wizard({ known }: { known: Setup }) {
  const draft = useDraft<Answers>('setup', answersOf(known))
  const [checked, setChecked] = useState<CheckedSetup>()
  const { error, isBusy, run } = useAct(async () => {
    const body = bodyOf(draft.now())
    const plan = await call<SetupPlan>('POST', '/setup/plan', body)
    setChecked(before => ({
      plan,
      report: before?.plan.mail_host === plan.mail_host ? before.report : undefined,
    }))
    const report = await call<Doctor>('POST', '/setup/checks', body)
    setChecked({ plan, report })
  })
  const isRunning = useRef(false)
  isRunning.current = isBusy
  const check = () => {
    if (!isRunning.current) void run()
  }
  /** Whether there were answers already when the page was opened. */
  const [isBegun] = useState(() => {
    const { host, addresses, contact } = draft.value
    return host !== '' && addresses !== '' && contact !== ''
  })
  useEffect(() => {
    if (isBegun) check()
  }, [])
  return (
    <>
      <Head
        title="Go live"
        lead="From this server to a mailbox at Gmail. Your answers are kept in this browser, so that you can continue later."
      >
        {checked && (
          <Button icon="again" disabled={isBusy} onClick={check}>
            Check again
          </Button>
        )}
      </Head>
      {error && error.fields.length === 0 && <Failure error={error} retry={check} />}
      <Progress checked={checked} isBusy={isBusy} />
      <ol class="steps">
        <ServerStep {...{ draft, known, checked, error, isBusy, isBegun, check }} />
        {checked && <LaterSteps {...{ checked, isBegun, check }} contact={draft.value.contact} />}
      </ol>
    </>
  )
}

/** Says how far the setup is, in one line. */
function Progress({ checked, isBusy }: { checked: CheckedSetup | undefined; isBusy: boolean }) {
  const { plan, report } = checked ?? {}
  return (
    <p class="row quiet" role="status">
      {isBusy && 'Checking … This takes up to 20 seconds.'}
      {!isBusy && !plan && 'Answer the first step to begin.'}
      {!isBusy && plan && report && (
        <>
          <Mark tone={isReady(plan, report) ? 'good' : 'warn'}>
            {isReady(plan, report) ? 'Ready to send' : 'Not ready yet'}
          </Mark>
          <span>
            Checked at <Time at={report.checked_at} />.
          </span>
        </>
      )}
    </p>
  )
}

interface ServerStepProps {
  draft: Draft<Answers>
  known: Setup
  checked: CheckedSetup | undefined
  error: ApiError | undefined
  isBusy: boolean
  isBegun: boolean
  check: () => void
}

function ServerStep({ draft, known, checked, error, isBusy, isBegun, check }: ServerStepProps) {
  const state = stateOf('server', checked?.plan, checked?.report)
  return (
    <Step number={1} title="Name and addresses" isDone={state?.isDone ?? false} isOpen={!isBegun}>
      <form
        class="stack"
        noValidate
        onSubmit={event => {
          event.preventDefault()
          check()
        }}
      >
        {answerFields({ draft, known, error })}
        {error && error.fields.length > 0 && !error.isShown && <Failure error={error} />}
        <div class="row">
          <Button type="submit" kind="main" disabled={isBusy}>
            {isBusy ? 'Checking …' : 'Check this server'}
          </Button>
        </div>
      </form>
      {checked?.plan.warning && <Note tone="warn">{checked.plan.warning}</Note>}
      {checked && <Outcome step="server" report={checked.report} />}
    </Step>
  )
}

/** Called, not rendered, so that the faults that have a field are known before what follows. */
function answerFields({ draft, known, error }: Pick<ServerStepProps, 'draft' | 'known' | 'error'>) {
  const found = known.interface_addresses.join(', ')
  return (
    <>
      <div class="halves">
        <TextField
          label="Host name of this server"
          {...draft.field('host')}
          placeholder="mail.example.com"
          hint="A subdomain of a domain you own, used only for Mailhorn. It is hard to change later."
          fault={error?.of('mail_host')}
        />
        <TextField
          label="Public IP addresses"
          {...draft.field('addresses')}
          placeholder="203.0.113.7"
          hint={`IPv4 and IPv6, separated by commas.${found && ` Network interfaces: ${found}.`}`}
          fault={error?.of('addresses')}
        />
        <TextField
          label="Contact address"
          type="email"
          {...draft.field('contact')}
          placeholder="you@example.com"
          hint="For the certificate authority, Let’s Encrypt."
          fault={error?.of('contact')}
        />
        <TextField
          label="Private IP addresses"
          {...draft.field('privateAddresses')}
          placeholder="found automatically"
          hint="Only behind NAT (AWS, Google Cloud, Azure)."
          fault={error?.of('private_addresses')}
        />
      </div>
      <div class="halves">
        <div class="field">
          <span class="label">HTTPS</span>
          <Choices<Setup['https']>
            label="HTTPS"
            {...draft.field('https')}
            options={[
              ['own', 'Served by Mailhorn'],
              ['proxy', 'Reverse proxy on this server'],
            ]}
          />
        </div>
        <div class="field">
          <span class="label">How the service is run</span>
          <Choices<Setup['run']>
            label="How the service is run"
            {...draft.field('run')}
            options={[
              ['package', 'Package'],
              ['docker', 'Docker Compose'],
              ['checkout', 'Checkout with npm'],
            ]}
          />
        </div>
      </div>
    </>
  )
}

interface LaterStepsProps {
  checked: CheckedSetup
  isBegun: boolean
  contact: string
  check: () => void
}

const STEPS = [
  ['firewall', 'Open the ports in the firewall', FirewallStep],
  ['records', 'Add DNS records to the parent zone', RecordsStep],
  ['provider', 'Ask the hosting provider for PTR records and port 25', ProviderStep],
  ['service', 'Save the settings and restart the service', ServiceStep],
] as const satisfies readonly (readonly [SetupStep, string, unknown])[]

/**
 * When the page is opened again, the first step is open that is not done and can be checked. Otherwise the
 * first step stays open, since the keyboard is in it.
 */
function LaterSteps({ checked, isBegun, contact, check }: LaterStepsProps) {
  const { plan, report } = checked
  const opened = useRef<string>()
  if (isBegun && report && opened.current === undefined)
    opened.current =
      STEPS.find(([step]) => {
        const state = stateOf(step, plan, report)
        return !state?.isDone && !(step === 'firewall' && state?.tone === 'none')
      })?.[0] ?? 'email'
  return (
    <>
      {STEPS.map(([step, title, Content], i) => {
        const state = stateOf(step, plan, report)
        return (
          <Step
            key={step}
            number={i + 2}
            title={title}
            isDone={state?.isDone ?? false}
            isOpen={opened.current === step}
            state={state && <Mark tone={state.tone}>{state.label}</Mark>}
          >
            <Content plan={plan} />
            <Outcome step={step} report={report} />
          </Step>
        )
      })}
      <SetupEmail
        number={STEPS.length + 2}
        isOpen={opened.current === 'email'}
        {...{ checked, contact, check }}
      />
    </>
  )
}

function answersOf({ mail_host, addresses, private_addresses, contact, https, run }: Setup): Answers {
  return {
    host: mail_host ?? '',
    addresses: addresses.join(', '),
    privateAddresses: private_addresses.join(', '),
    contact: contact ?? '',
    ...{ https, run },
  }
}

function bodyOf({ host, addresses, privateAddresses, contact, https, run }: Answers) {
  return {
    mail_host: pastedDomain(host) || host,
    addresses: listOf(addresses),
    private_addresses: listOf(privateAddresses),
    ...{ contact, https, run },
  }
}

function listOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean)
}
