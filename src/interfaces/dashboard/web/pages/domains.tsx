/** Domains page. */
import { useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import type { Domain, DomainClaim, Installation } from '../api/types.ts'
import { Button, Choose, TextField } from '../components/controls.tsx'
import { FormDialog, useAct } from '../components/dialog.tsx'
import { Note } from '../components/feedback.tsx'
import { type Column, ResourceList, timeColumn } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { Head, Mark } from '../components/show.tsx'
import { pastedDomain } from '../labels/pasted-domain.ts'
import { DOMAIN_WORDS } from '../labels/status.ts'

const LIVE_MS = 10_000

export function Domains() {
  const query = useQuery()
  const list = usePaged<Domain>('/domains', query, { everyMs: LIVE_MS })
  const add = () => query.set({ add: '1' })
  return (
    <>
      <Head title="Domains">
        <Button kind="main" icon="plus" onClick={add}>
          Add domain
        </Button>
      </Head>
      <ResourceList<Domain>
        name="Domains"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        href={({ id }) => `/domains/${id}`}
        empty={{
          icon: 'domains',
          title: 'No domains yet',
          act: (
            <Button kind="main" onClick={add}>
              Add your first domain
            </Button>
          ),
          children:
            'Add a domain and its six DNS records to start sending. A subdomain such as mail.your-company.com keeps its sending reputation separate from your main domain.',
        }}
      />
      {query.get('add') && <AddDomain onClose={() => query.set({ add: null })} />}
    </>
  )
}

const COLUMNS: readonly Column<Domain>[] = [
  { head: 'Domain', text: ({ name }) => name },
  {
    head: 'Verified records',
    width: 132,
    text: ({ records }) =>
      `${records.filter(({ status }) => status === 'verified').length} of ${records.length}`,
  },
  { head: 'Region', width: 132, isExtra: true, text: ({ region }) => region },
  {
    head: 'Status',
    kind: 'status',
    width: 152,
    cell: ({ status }) => (
      <Mark tone={DOMAIN_WORDS[status].tone} title={DOMAIN_WORDS[status].meaning}>
        {DOMAIN_WORDS[status].label}
      </Mark>
    ),
  },
  timeColumn('Last checked', ({ last_checked_at }) => last_checked_at, 'Never'),
]

export function AddDomain({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation()
  const installation = useLoad<Installation>('/installation')
  const [typed, setTyped] = useState('')
  const name = pastedDomain(typed)
  const [region, setRegion] = useState('us-west-2')
  const regions = installation.data?.regions ?? []
  const claim = useAct(async () => {
    const { domain_id } = await call<DomainClaim>('POST', '/domains/claim', { name })
    onClose()
    navigate(`/domains/${domain_id}?claim=1`)
  })
  const isSilent = regions.find(one => one.name === region)?.feedback === false
  return (
    <FormDialog
      title="Add domain"
      act="Add domain"
      onClose={onClose}
      onSubmit={async () => {
        const { id } = await call<Domain>('POST', '/domains', { name, region })
        onClose()
        navigate(`/domains/${id}`)
      }}
    >
      {error => (
        <>
          <TextField
            label="Domain"
            required
            autofocus
            value={typed}
            placeholder="mail.your-company.com"
            hint={
              name === typed.trim()
                ? 'You need access to its DNS settings.'
                : `The domain ${name} will be added.`
            }
            onValue={setTyped}
            fault={claim.error?.of('name') ?? error?.of('name')}
          />
          {error?.of('name')?.includes('verified by another account') && (
            <Button disabled={claim.isBusy} onClick={() => void claim.run()}>
              Claim {name}
            </Button>
          )}
          {regions.length > 1 && (
            <Choose
              label="Region"
              hint="Part of the host name in the MX record. Keep the default unless your code names another."
              value={region}
              options={regions.map(one => [
                one.name,
                one.feedback ? one.name : `${one.name} (no delivery events)`,
              ])}
              onValue={setRegion}
              fault={error?.of('region')}
            />
          )}
          {isSilent && (
            <Note tone="warn">
              <p>This region does not report delivery events: you will not see deliveries or bounces.</p>
            </Note>
          )}
        </>
      )}
    </FormDialog>
  )
}
