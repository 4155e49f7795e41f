/** Suppressions page. */
import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { call } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import type { Suppression } from '../api/types.ts'
import { AreaField, Button } from '../components/controls.tsx'
import { confirm, FormDialog } from '../components/dialog.tsx'
import { useDraft } from '../components/draft.tsx'
import { say } from '../components/feedback.tsx'
import { Filter, FilterBar, Search } from '../components/filters.tsx'
import { actions, type Column, ResourceList, timeColumn } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { Chosen, type Selection, useSelection, withEach } from '../components/selection.tsx'
import { Head, Mark } from '../components/show.tsx'
import { counted } from '../labels/numbers.ts'
import { SUPPRESSION_REASONS } from '../labels/status.ts'
import { ExportSuppressions, ImportSuppressions } from './suppression-files.tsx'

const CONCURRENT_MAX = 100

export function Suppressions() {
  const query = useQuery()
  const [open, setOpen] = useState<'add' | 'import' | 'export'>()
  const close = () => setOpen(undefined)
  const list = usePaged<Suppression>('/suppressions', query, {
    filters: { q: query.get('q'), origin: query.get('reason') },
  })
  const rows = list.data?.data ?? []
  const selection = useSelection(rows.map(({ id }) => id))
  return (
    <>
      <Head title="Suppressions">
        <Button onClick={() => setOpen('export')}>Export</Button>
        <Button icon="save" onClick={() => setOpen('import')}>
          Import
        </Button>
        <Button kind="main" icon="plus" onClick={() => setOpen('add')}>
          Add addresses
        </Button>
      </Head>
      <ResourceList<Suppression>
        name="Suppressed addresses"
        list={list}
        columns={columnsOf(list.reload)}
        keyOf={({ id }) => id}
        selection={selection}
        nameOf={({ email }) => email}
        empty={{
          icon: 'suppressions',
          title: 'No suppressed addresses',
          children:
            'Addresses that bounce permanently, or whose owner marks your email as spam, are added here. This protects your sending reputation.',
        }}
      >
        <FilterBar
          query={query}
          names={['reason']}
          search={<Search query={query} label="Search addresses" />}
        >
          <Filter
            query={query}
            name="reason"
            label="Any reason"
            options={Object.entries(SUPPRESSION_REASONS).map(([reason, [label]]) => [reason, label] as const)}
          />
        </FilterBar>
        <ChosenActs rows={rows} selection={selection} reload={list.reload} />
      </ResourceList>
      {open === 'add' && <AddAddresses onClose={close} onAdded={list.reload} />}
      {open === 'import' && <ImportSuppressions onClose={close} onDone={list.reload} />}
      {open === 'export' && <ExportSuppressions reason={query.get('reason') || undefined} onClose={close} />}
    </>
  )
}

interface ChosenActsProps {
  rows: readonly Suppression[]
  selection: Selection
  reload: () => void
}

function ChosenActs({ rows, selection, reload }: ChosenActsProps) {
  const chosen = rows.filter(({ id }) => selection.keys.has(id))
  const complaints = chosen.filter(({ reason }) => reason === 'complaint').length
  const remove = () =>
    confirm({
      title: `Send to ${counted(chosen.length, 'address', 'addresses')} again?`,
      text:
        complaints > 0
          ? `${counted(complaints, 'recipient', 'recipients')} marked your email as spam. Remove them only if they have opted in again.`
          : 'You can send to these addresses again. Addresses that bounce again are suppressed again.',
      act: 'Remove from suppression list',
      async work() {
        await withEach(
          chosen,
          ({ id }) => call('DELETE', `/suppressions/${id}`),
          done => `${counted(done, 'address', 'addresses')} removed from the suppression list.`,
        )
        selection.clear()
        reload()
      },
    })
  return (
    <Chosen selection={selection}>
      <Button small kind="bad" icon="trash" onClick={remove}>
        Remove from list
      </Button>
    </Chosen>
  )
}

function columnsOf(reload: () => void): Column<Suppression>[] {
  const remove = ({ id, email, reason }: Suppression) =>
    confirm({
      title: `Send to ${email} again?`,
      text:
        reason === 'complaint'
          ? 'The recipient marked your email as spam. Remove the address only if they have opted in again.'
          : 'You can send to this address again. If it bounces again, it is suppressed again.',
      act: 'Remove from suppression list',
      async work() {
        await call('DELETE', `/suppressions/${id}`)
        say(`${email} was removed from the suppression list.`)
        reload()
      },
    })
  return [
    { head: 'Address', text: ({ email }) => email },
    {
      head: 'Reason',
      kind: 'status',
      cell: ({ reason }) => (
        <Mark tone={SUPPRESSION_REASONS[reason][1]}>{SUPPRESSION_REASONS[reason][0]}</Mark>
      ),
    },
    {
      head: 'Source',
      width: 120,
      cell: ({ source_id }) =>
        source_id ? <Link href={`/emails/${source_id}`}>View email</Link> : <span class="faint">–</span>,
    },
    timeColumn('Added', ({ created_at }) => created_at),
    actions(
      entry => (
        <Button
          small
          kind="plain"
          icon="trash"
          label={`Remove ${entry.email} from the suppression list`}
          onClick={() => remove(entry)}
        />
      ),
      56,
    ),
  ]
}

function AddAddresses({ onClose, onAdded }: { onClose: () => void; onAdded: () => void }) {
  const draft = useDraft('suppressions', { text: '' })
  const { text } = draft.value
  const emails = text.split(/[\s,;]+/).filter(Boolean)
  return (
    <FormDialog
      title="Add addresses"
      act={emails.length > 1 ? `Add ${counted(emails.length, 'address', 'addresses')}` : 'Add address'}
      disabled={emails.length === 0}
      draft={draft}
      onClose={onClose}
      onSubmit={async () => {
        for (let at = 0; at < emails.length; at += CONCURRENT_MAX)
          await call('POST', '/suppressions/batch/add', { emails: emails.slice(at, at + CONCURRENT_MAX) })
        say(`${counted(emails.length, 'address', 'addresses')} added to the suppression list.`)
        onAdded()
        onClose()
      }}
    >
      {error => (
        <AreaField
          label="Addresses"
          rows={6}
          {...draft.field('text')}
          placeholder={'ann@example.com\nbob@example.com'}
          hint="One per line or separated by commas."
          fault={error?.of('emails')}
        />
      )}
    </FormDialog>
  )
}
