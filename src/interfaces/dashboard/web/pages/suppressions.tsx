/** Addresses that get nothing. */
import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { call } from '../api/client.ts'
import { useQuery } from '../api/query.ts'
import type { Suppression } from '../api/types.ts'
import { AreaField, Button } from '../components/controls.tsx'
import { confirm, FormDialog } from '../components/dialog.tsx'
import { useDraft } from '../components/draft.tsx'
import { Empty, say } from '../components/feedback.tsx'
import { type Column, Filter, PagedTable, Search } from '../components/list.tsx'
import { usePaged } from '../components/paged.ts'
import { Chosen, type Selection, useSelection, withEach } from '../components/selection.tsx'
import { Card, Head, Mark, Time } from '../components/show.tsx'
import { counted } from '../labels/numbers.ts'
import type { Tone } from '../labels/status.ts'

const MOST_AT_ONCE = 100
const REASONS: Readonly<{ [R in Suppression['reason']]: readonly [label: string, tone: Tone] }> = {
  bounce: ['Bounced', 'bad'],
  complaint: ['Complained', 'bad'],
  manual: ['Added by hand', 'none'],
}

export function Suppressions() {
  const query = useQuery()
  const [isAdding, setAdding] = useState(false)
  const list = usePaged<Suppression>('/suppressions', query, {
    filters: { q: query.get('q'), origin: query.get('reason') },
  })
  const rows = list.data?.data ?? []
  const selection = useSelection(rows.map(({ id }) => id))
  return (
    <>
      <Head
        title="Suppressions"
        lead="These addresses get nothing from you. Those that bounce for good, or complain, are added by themselves: mailbox providers expect it."
      >
        <Button kind="main" icon="plus" onClick={() => setAdding(true)}>
          Add addresses
        </Button>
      </Head>
      <Card flush>
        <search class="filters">
          <Search query={query} label="Search addresses" />
          <Filter
            query={query}
            name="reason"
            label="Any reason"
            options={Object.entries(REASONS).map(([reason, [label]]) => [reason, label] as const)}
          />
        </search>
        <ChosenActs rows={rows} selection={selection} reload={list.reload} />
        <PagedTable<Suppression>
          caption="Suppressed addresses"
          columns={columnsOf(list.reload)}
          keyOf={({ id }) => id}
          selection={selection}
          nameOf={({ email }) => email}
          list={list}
          empty={
            <Empty icon="suppressions" title="Nobody is suppressed">
              An address that does not exist, or whose reader marks your mail as spam, lands here and gets
              nothing more. That keeps your other mail welcome.
            </Empty>
          }
        />
      </Card>
      {isAdding && <AddAddresses onClose={() => setAdding(false)} onAdded={list.reload} />}
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
          ? `${counted(complaints, 'reader has', 'readers have')} marked your mail as spam. Take them off only if they have asked for your mail since.`
          : 'From now on they get your mail. Those that bounce again come back to this list.',
      act: 'Take them off the list',
      async work() {
        await withEach(
          chosen,
          ({ id }) => call('DELETE', `/suppressions/${id}`),
          done => `${counted(done, 'address', 'addresses')} can be sent to.`,
        )
        selection.clear()
        reload()
      },
    })
  return (
    <Chosen selection={selection}>
      <Button small kind="bad" icon="trash" onClick={remove}>
        Take off the list
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
          ? 'The reader has marked your mail as spam. Do this only if they have asked for your mail since.'
          : 'From now on the address gets your mail. If it bounces again, it comes back to this list.',
      act: 'Take it off the list',
      async work() {
        await call('DELETE', `/suppressions/${id}`)
        say(`${email} can be sent to.`)
        reload()
      },
    })
  return [
    { head: 'Address', cell: ({ email }) => <b>{email}</b> },
    {
      head: 'Reason',
      cell: ({ reason }) => <Mark tone={REASONS[reason][1]}>{REASONS[reason][0]}</Mark>,
    },
    {
      head: 'By',
      cell: ({ source_id }) =>
        source_id ? <Link href={`/emails/${source_id}`}>this email</Link> : <span class="faint">–</span>,
    },
    { head: 'Since', kind: 'tight', cell: ({ created_at }) => <Time at={created_at} /> },
    {
      head: 'Acts',
      kind: 'acts',
      cell: entry => (
        <Button
          small
          kind="plain"
          icon="trash"
          label={`Take ${entry.email} off the list`}
          onClick={() => remove(entry)}
        />
      ),
    },
  ]
}

function AddAddresses({ onClose, onAdded }: { onClose: () => void; onAdded: () => void }) {
  const draft = useDraft('suppressions', { text: '' })
  const { text } = draft.value
  const emails = text.split(/[\s,;]+/).filter(Boolean)
  return (
    <FormDialog
      title="Add addresses"
      act={emails.length > 1 ? `Add ${counted(emails.length, 'address', 'addresses')}` : 'Add'}
      disabled={emails.length === 0}
      draft={draft}
      onClose={onClose}
      onSubmit={async () => {
        for (let at = 0; at < emails.length; at += MOST_AT_ONCE)
          await call('POST', '/suppressions/batch/add', { emails: emails.slice(at, at + MOST_AT_ONCE) })
        say(`${counted(emails.length, 'address gets', 'addresses get')} nothing from now on.`)
        onAdded()
        onClose()
      }}
    >
      {error => (
        <AreaField
          label="Addresses"
          rows={6}
          value={text}
          placeholder={'ann@example.com\nbob@example.com'}
          hint="One a line, or with commas between them."
          onValue={value => draft.set({ text: value })}
          fault={error?.fields[0]?.message}
        />
      )}
    </FormDialog>
  )
}
