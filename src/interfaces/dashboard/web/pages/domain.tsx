/** One domain: its records to be copied, what the world sees of them, its keys and its settings. */
import { useState } from 'preact/hooks'
import { Link, useLocation } from 'wouter-preact'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { CheckedDomain, Domain } from '../api/types.ts'
import { Button, Switch, TextField } from '../components/controls.tsx'
import { confirm, useAct, useChange } from '../components/dialog.tsx'
import { Failure, Note, say, Waiting } from '../components/feedback.tsx'
import { Card, Head, Mark, Time } from '../components/show.tsx'
import { DOMAIN_WORDS } from '../labels/status.ts'
import type { PageProps } from '../shell/page.ts'
import { AutoconfigureDialog } from './autoconfigure.tsx'
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
  const verify = useAct(async () => {
    const { checks, ...checked } = await call<CheckedDomain>('POST', `/domains/${id}/verify`)
    setChecks(checks)
    domain.put(checked)
    say(checked.status === 'verified' ? `${checked.name} is verified.` : 'Looked up. See each record below.')
  })
  if (!domain.data) return domain.error ? <Failure error={domain.error} retry={domain.reload} /> : <Waiting />
  const { name, status, last_checked_at } = domain.data
  const wanted = status === 'verified' ? CALM_MS : WAITING_MS
  if (wanted !== everyMs) setEvery(wanted)
  const { label, tone, meaning } = DOMAIN_WORDS[status]
  return (
    <>
      <Head
        title={name}
        from={['/domains', 'Domains']}
        lead={
          <>
            <Mark tone={tone}>{label}</Mark> {meaning}
          </>
        }
      >
        <Button icon="domains" onClick={() => setConfiguring(true)}>
          Set up by itself
        </Button>
        <Button kind="main" icon="again" disabled={verify.isBusy} onClick={() => void verify.run()}>
          {verify.isBusy ? 'Looking …' : 'Check now'}
        </Button>
      </Head>
      {status === 'verified' && <NextStep />}
      {verify.error && <Failure error={verify.error} act="The records could not be looked up" />}
      <Card
        title="DNS records"
        lead={
          <>
            Copy these to where the DNS of {name} is kept. Last checked:{' '}
            <Time at={last_checked_at} or="never" />.
          </>
        }
        flush
      >
        <DomainRecords domain={domain.data} checks={checks} />
      </Card>
      {checks && <FurtherChecks checks={checks} />}
      <div class="halves">
        <SettingsCard domain={domain.data} put={domain.put} />
        <DomainKeysCard id={domain.data.id} />
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

/** For those who have come here by the first steps. */
function NextStep() {
  if (areStepsOver()) return null
  return (
    <Note tone="good">
      <p>
        <b>You can send from this domain now.</b> <Link href="/start">Go on with the first steps</Link>
      </p>
    </Note>
  )
}

/** What is good to have, and stops nothing. */
function FurtherChecks({ checks: { dmarc, name_servers } }: { checks: CheckedDomain['checks'] }) {
  const notes = [dmarc.advice, name_servers.advice].filter(advice => advice !== null)
  if (notes.length === 0) return null
  return (
    <Note tone="warn">
      {notes.map(advice => (
        <p key={advice}>{advice}</p>
      ))}
    </Note>
  )
}

function SettingsCard({ domain, put }: { domain: Domain; put: (domain: Domain) => void }) {
  const { error, act } = useChange(async (body: object) => {
    put(await call<Domain>('PATCH', `/domains/${domain.id}`, body))
    say('Saved.')
  })
  return (
    <Card title="Settings">
      <div class="stack">
        {error && <Failure error={error} act="Nothing was changed" />}
        <Switch
          label="See when mail is opened"
          hint="An invisible picture is added. Many mail programs load it by themselves, or never."
          checked={domain.open_tracking}
          onChange={open_tracking => act({ open_tracking })}
        />
        <Switch
          label="See which links are clicked"
          hint="Links lead through this service first."
          checked={domain.click_tracking}
          onChange={click_tracking => act({ click_tracking })}
        />
        <LinkHost
          key={domain.tracking_subdomain}
          domain={domain}
          onChange={tracking_subdomain => act({ tracking_subdomain })}
        />
        <Switch
          label="Deliver only over encryption"
          hint="Mail to servers without proper encryption waits, and is given up in the end."
          checked={domain.tls === 'enforced'}
          onChange={isEnforced => act({ tls: isEnforced ? 'enforced' : 'opportunistic' })}
        />
        <Switch
          label="Receive mail"
          hint="Mail to this domain appears here, once its MX record leads here."
          checked={domain.receiving.enabled}
          onChange={receiving => act({ receiving })}
        />
        {domain.receiving.enabled && (
          <RecordBox
            name="MX for receiving"
            note="Only if this domain’s mail should come here, rather than to where it comes now."
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
        label="Name that links lead to"
        value={subdomain}
        onValue={setSubdomain}
        placeholder="links"
        hint={`A name below ${name}: filters trust links of the sender’s own domain. It needs one more record, above. With nothing here, links lead to ours.`}
      />
      {subdomain !== tracking_subdomain && (
        <Button type="submit">Use {subdomain ? `${subdomain}.${name}` : 'our name'}</Button>
      )}
    </form>
  )
}

function DeleteCard({ domain: { id, name } }: { domain: Domain }) {
  const [, navigate] = useLocation()
  const ask = () =>
    confirm({
      title: `Delete ${name}?`,
      text: 'Its keys and the API keys bound to it go, and mail of it that waits is given up. Sent mail stays in the list. This cannot be undone.',
      act: 'Delete the domain',
      async work() {
        await call('DELETE', `/domains/${id}`)
        say(`${name} is deleted.`)
        navigate('/domains')
      },
    })
  return (
    <div class="row row-apart">
      <p class="quiet">Not sending from {name} any more?</p>
      <Button kind="bad" icon="trash" onClick={ask}>
        Delete the domain
      </Button>
    </div>
  )
}
