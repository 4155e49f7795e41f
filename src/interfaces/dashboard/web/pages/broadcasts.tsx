/** Broadcasts page. */
import { useLocation } from 'wouter-preact'
import { STARTER_HTML } from '../../../../pipeline/broadcasts/starter.ts'
import { call } from '../api/client.ts'
import { draftKey, hasDraft } from '../api/drafts.ts'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import { draftOwner } from '../api/session.ts'
import type { Audience, Broadcast, BroadcastRow, Domain, List, Template, TemplateRow } from '../api/types.ts'
import { Button, Choose, LinkButton, TextField } from '../components/controls.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { useDraft } from '../components/draft.tsx'
import { Note } from '../components/feedback.tsx'
import { Filter, FilterBar, Search } from '../components/filters.tsx'
import { type Column, ResourceList, timeColumn } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { Head, Mark } from '../components/show.tsx'
import { BROADCAST_WORDS, subscribedWords, titleOf } from '../labels/broadcasts.ts'

const LIVE_MS = 5_000

const COLUMNS: readonly Column<BroadcastRow>[] = [
  {
    head: 'Broadcast',
    text: ({ name, subject }) => (name && name !== subject ? `${name} (${subject})` : subject),
    cell: broadcast => (
      <>
        {hasDraft(draftKey(draftOwner(), `broadcast.${broadcast.id}`)) && (
          <>
            <Mark tone="warn" title="This browser holds changes that are not on the server.">
              has unsaved changes
            </Mark>{' '}
          </>
        )}
        {titleOf(broadcast)}
      </>
    ),
  },
  { head: 'From', width: '30%', text: ({ from }) => from },
  {
    head: 'Status',
    kind: 'status',
    cell: ({ status }) => <Mark tone={BROADCAST_WORDS[status][1]}>{BROADCAST_WORDS[status][0]}</Mark>,
  },
  timeColumn('Date', ({ started_at, scheduled_at, updated_at }) => started_at ?? scheduled_at ?? updated_at),
]

export function Broadcasts() {
  const query = useQuery()
  const list = usePaged<BroadcastRow>('/broadcasts', query, {
    filters: { q: query.get('q'), status: query.get('status') },
    everyMs: LIVE_MS,
  })
  const add = () => query.set({ add: '1' })
  return (
    <>
      <Head title="Broadcasts">
        <Button kind="main" icon="plus" onClick={add}>
          Create broadcast
        </Button>
      </Head>
      <ResourceList<BroadcastRow>
        name="Broadcasts"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        href={({ id }) => `/broadcasts/${id}`}
        empty={{
          icon: 'broadcasts',
          title: 'No broadcasts yet',
          act: <Button onClick={add}>Create your first broadcast</Button>,
          children:
            'Write the email, preview it with the data of a contact, send yourself a test, then send it now or schedule it.',
        }}
      >
        <FilterBar query={query} names={['status']} search={<Search query={query} label="Search names" />}>
          <Filter
            query={query}
            name="status"
            label="Any status"
            options={Object.entries(BROADCAST_WORDS).map(([status, [label]]) => [status, label] as const)}
          />
        </FilterBar>
      </ResourceList>
      {query.get('add') && <AddBroadcast onClose={() => query.set({ add: null })} />}
    </>
  )
}

function AddBroadcast({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation()
  const audiences = useLoad<List<Audience>>('/audiences?limit=100')
  const latest = useLoad<List<BroadcastRow>>('/broadcasts?limit=1')
  const domains = useLoad<List<Domain>>('/domains?limit=100')
  const verified = domains.data?.data.find(({ status }) => status === 'verified')
  const templates = useLoad<List<TemplateRow>>('/templates?limit=100')
  const draft = useDraft('new-broadcast', { audience: '', template: '', from: '', subject: '' })
  const { audience: chosen, template: templateId, from, subject } = draft.value
  const template = useLoad<Template>(templateId ? `/templates/${templateId}` : null).data
  const list = audiences.data?.data ?? []
  const lastUsed = list.find(({ id }) => id === latest.data?.data[0]?.audience_id) ?? list[0]
  const standard = template?.from || (verified ? `news@${verified.name}` : '')
  return (
    <FormDialog
      title="Create broadcast"
      act="Create broadcast"
      disabled={list.length === 0 || !latest.data}
      draft={draft}
      onClose={onClose}
      onSubmit={async () => {
        const { id } = await call<Broadcast>('POST', '/broadcasts', {
          audience_id: chosen || lastUsed!.id,
          from: from || standard,
          ...(templateId ? { template_id: templateId } : { html: STARTER_HTML }),
          ...((subject || !template?.subject) && { subject }),
        })
        navigate(`/broadcasts/${id}`)
      }}
    >
      {error => (
        <>
          {audiences.data && list.length === 0 && (
            <Note>
              <p>
                You need an audience first. <LinkButton href="/audiences?add=1">Create audience</LinkButton>
              </p>
            </Note>
          )}
          <Choose
            label="To"
            value={chosen || (lastUsed?.id ?? '')}
            options={list.map(one => [one.id, `${one.name} (${subscribedWords(one)})`])}
            onValue={audience => draft.change({ audience })}
            fault={error?.of('audience_id')}
          />
          {templates.data && templates.data.total > 0 && (
            <Choose
              label="Template"
              hint="Its content is copied into the broadcast, where you can change it."
              value={templateId}
              options={[['', 'None'], ...templates.data.data.map(({ id, name }) => [id, name] as const)]}
              onValue={value => draft.change({ template: value })}
              fault={error?.of('template_id')}
            />
          )}
          <TextField label="From" {...draft.field('from')} placeholder={standard} fault={error?.of('from')} />
          <TextField
            label="Subject"
            required={!template?.subject}
            {...draft.field('subject')}
            {...(template?.subject && { placeholder: template.subject })}
            fault={error?.of('subject')}
          />
        </>
      )}
    </FormDialog>
  )
}
