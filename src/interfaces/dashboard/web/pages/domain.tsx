/** One domain: its DNS records and their status, its DKIM keys and its settings. */
import { useState } from 'preact/hooks'
import { Link, useLocation } from 'wouter-preact'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import type { CheckedDomain, Domain } from '../api/types.ts'
import { Button, LinkButton, Switch, TextField } from '../components/controls.tsx'
import { confirmRemoval, useAct, useChange } from '../components/dialog.tsx'
import { Failure, Note, Pending, say } from '../components/feedback.tsx'
import type { PageProps } from '../components/page.ts'
import { Card, Head, Mark, Time } from '../components/show.tsx'
import { emailsWith } from '../labels/places.ts'
import { DOMAIN_WORDS, recordsLeft } from '../labels/status.ts'
import { AutoconfigureDialog } from './autoconfigure.tsx'
import { DomainBrandingCard } from './domain-branding.tsx'
import { DomainClaimCard } from './domain-claim.tsx'
import { DomainKeysCard } from './domain-keys.tsx'
import { DomainRecords, RecordBox } from './domain-records.tsx'
import { areStepsOver } from './first-steps.tsx'

const WAITING_MS = 5_000
const CALM_MS = 60_000

export function DomainPage({ params: { id } }: PageProps) {
  const [everyMs, setEvery] = useState(WAITING_MS)
  const domain = useLoad<Domain>(`/domains/${id}`, { everyMs, on: 'domain.' })
  const [checks, setChecks] = useState<CheckedDomain['checks']>()
  const [isConfiguring, setConfiguring] = useState(false)
  const query = useQuery()
  const isClaimed = query.get('claim') !== ''
  const verify = useAct(async () => {
    const { checks, ...checked } = await call<CheckedDomain>('POST', `/domains/${id}/verify`)
    setChecks(checks)
    domain.put(checked)
    if (checked.status === 'verified') say(`${checked.name} is verified.`)
    else say('DNS checked. See the status of each record below.', 'warn')
  })
  if (!domain.data) return <Pending of={domain} />
  const { name, status, last_checked_at } = domain.data
  const wanted = status === 'verified' ? CALM_MS : WAITING_MS
  if (wanted !== everyMs) setEvery(wanted)
  return (
    <>
      <DomainHead
        domain={domain.data}
        isChecking={verify.isBusy}
        onVerify={() => void verify.run()}
        onConfigure={() => setConfiguring(true)}
      />
      {status === 'verified' && <NextStep />}
      {(isClaimed || isElsewhere(checks)) && (
        <DomainClaimCard
          domain={domain.data}
          isClaimed={isClaimed}
          onMoved={() => {
            query.set({ claim: null })
            setChecks(undefined)
            domain.reload()
          }}
        />
      )}
      {verify.error && <Failure error={verify.error} act="The DNS records could not be checked" />}
      {checks?.name_servers.advice && (
        <Note tone="warn">
          <p>{checks.name_servers.advice}</p>
        </Note>
      )}
      <Card
        title="DNS records"
        lead={
          <>
            Add these records at the DNS provider of {name}. Last checked:{' '}
            <Time at={last_checked_at} or="never" />.
          </>
        }
        flush
      >
        <DomainRecords domain={domain.data} checks={checks} />
      </Card>
      <div class="halves">
        <SettingsCard domain={domain.data} put={domain.put} />
        <div class="stack">
          <DomainKeysCard id={domain.data.id} />
          <DomainBrandingCard domain={domain.data} put={domain.put} />
        </div>
      </div>
      <DeleteCard domain={domain.data} />
      {isConfiguring && (
        <AutoconfigureDialog
          domain={domain.data}
          onClose={() => setConfiguring(false)}
          onDone={() => void verify.run()}
        />
      )}
    </>
  )
}

interface DomainHeadProps {
  domain: Domain
  isChecking: boolean
  onVerify: () => void
  onConfigure: () => void
}

function DomainHead({
  domain: { name, status, records },
  isChecking,
  onVerify,
  onConfigure,
}: DomainHeadProps) {
  const { label, tone, meaning } = DOMAIN_WORDS[status]
  return (
    <Head
      title={name}
      from={['/domains', 'Domains']}
      lead={
        <>
          <Mark tone={tone}>{label}</Mark> {(status === 'pending' && recordsLeft(records)) || meaning}
        </>
      }
    >
      <LinkButton href={emailsWith({ domain: name })} icon="emails">
        View emails
      </LinkButton>
      <Button icon="domains" onClick={onConfigure}>
        Configure automatically
      </Button>
      <Button kind="main" icon="again" disabled={isChecking} onClick={onVerify}>
        {isChecking ? 'Checking …' : 'Verify domain'}
      </Button>
    </Head>
  )
}

/** Tells whether a check found that another account has the name. */
function isElsewhere(checks: CheckedDomain['checks'] | undefined): boolean {
  return checks?.ownership.problems.some(({ code }) => code === 'verified_elsewhere') ?? false
}

/** Link back to the first steps while they are not completed. */
function NextStep() {
  if (areStepsOver()) return null
  return (
    <Note tone="good">
      <p>
        <b>You can send from this domain now.</b> <Link href="/start">Continue with the first steps</Link>
      </p>
    </Note>
  )
}

function SettingsCard({ domain, put }: { domain: Domain; put: (domain: Domain) => void }) {
  const { error, act } = useChange(async (body: object) => {
    put(await call<Domain>('PATCH', `/domains/${domain.id}`, body))
    say('Domain settings saved.')
  })
  return (
    <Card title="Settings">
      <div class="stack">
        {error && <Failure error={error} act="The change was not saved" />}
        <Switch
          label="Open tracking"
          hint="Adds a tracking pixel. Some email clients always load it, others never do."
          checked={domain.open_tracking}
          onChange={open_tracking => act({ open_tracking })}
        />
        <Switch
          label="Click tracking"
          hint="Rewrites links to count clicks."
          checked={domain.click_tracking}
          onChange={click_tracking => act({ click_tracking })}
        />
        <LinkHost
          key={domain.tracking_subdomain}
          domain={domain}
          onChange={tracking_subdomain => act({ tracking_subdomain })}
        />
        <Switch
          label="Require TLS"
          hint="Email is held back from servers without verified TLS and fails after 48 hours."
          checked={domain.tls === 'enforced'}
          onChange={isEnforced => act({ tls: isEnforced ? 'enforced' : 'opportunistic' })}
        />
        <Switch
          label="Send mail"
          hint="While it is disabled, new email from this domain is refused. Queued email is still delivered."
          checked={domain.capabilities.sending === 'enabled'}
          onChange={isEnabled => act({ capabilities: { sending: isEnabled ? 'enabled' : 'disabled' } })}
        />
        <Switch
          label="Receive mail"
          hint="Email to this domain appears in the inbox once its MX record points to Mailhorn."
          checked={domain.receiving.enabled}
          onChange={receiving => act({ receiving })}
        />
        {domain.receiving.enabled && (
          <RecordBox
            name="MX for receiving"
            note="Add it only if all email to this domain should be received by Mailhorn."
            record={domain.receiving.record}
          />
        )}
      </div>
    </Card>
  )
}

interface LinkHostProps {
  domain: Domain
  onChange: (subdomain: string) => void
}

function LinkHost({ domain: { name, tracking_subdomain = '' }, onChange }: LinkHostProps) {
  const [subdomain, setSubdomain] = useState(tracking_subdomain)
  const save = (event: Event) => {
    event.preventDefault()
    onChange(subdomain)
  }
  return (
    <form class="stack" onSubmit={save}>
      <TextField
        label="Tracking subdomain"
        value={subdomain}
        onValue={setSubdomain}
        placeholder="links"
        hint={`A subdomain of ${name} for tracked links, which spam filters trust more than a shared domain. It needs one more DNS record. Leave empty to use the shared tracking domain.`}
      />
      {subdomain !== tracking_subdomain && (
        <Button type="submit">Use {subdomain ? `${subdomain}.${name}` : 'shared domain'}</Button>
      )}
    </form>
  )
}

function DeleteCard({ domain: { id, name } }: { domain: Domain }) {
  const [, navigate] = useLocation()
  const ask = () =>
    confirmRemoval('domain', {
      name,
      path: `/domains/${id}`,
      text: 'Its DKIM keys and the API keys restricted to it will be deleted, and its queued emails canceled. Sent emails remain in the list. This cannot be undone.',
      said: `${name} was deleted.`,
      onRemoved: () => navigate('/domains'),
    })
  return (
    <div class="row">
      <Button kind="bad" icon="trash" onClick={ask}>
        Delete domain
      </Button>
    </div>
  )
}
