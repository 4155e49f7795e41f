/** Segments of an audience: contacts that match a set of filters. */
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Audience, List, Segment } from '../api/types.ts'
import { Button, TextField } from '../components/controls.tsx'
import { confirmRemoval, FormDialog } from '../components/dialog.tsx'
import { useDraft } from '../components/draft.tsx'
import { actions, type Column, ResourceList, RowActs } from '../components/list.tsx'
import { conditionFault, filterWords } from '../labels/conditions.ts'
import { count } from '../labels/numbers.ts'
import { segmentPlace } from '../labels/places.ts'
import { FIRST_FILTERS, FilterFields, LiveCount } from './condition-fields.tsx'

export function Segments({ audience }: { audience: Pick<Audience, 'id'> }) {
  const segments = useLoad<List<Segment>>(`/audiences/${audience.id}/segments?limit=100`)
  const [open, setOpen] = useState<Segment | 'new'>()
  const add = () => setOpen('new')
  const remove = ({ id, name }: Segment) =>
    confirmRemoval('segment', {
      name,
      path: `/audiences/${audience.id}/segments/${id}`,
      text: 'Its contacts stay in the audience.',
      onRemoved: segments.reload,
    })
  const columns: Column<Segment>[] = [
    { head: 'Segment', width: '30%', text: ({ name }) => name },
    { head: 'Conditions', text: ({ filters }) => filters.map(filterWords).join(' and ') },
    { head: 'Contacts', kind: 'number', cell: ({ contact_count }) => count(contact_count) },
    actions(segment => (
      <RowActs
        onChange={() => setOpen(segment)}
        removal={`Delete ${segment.name}`}
        onRemove={() => remove(segment)}
      />
    )),
  ]
  const act = (
    <Button icon="plus" onClick={add}>
      Create segment
    </Button>
  )
  return (
    <>
      <ResourceList<Segment>
        name="Segments"
        list={segments}
        columns={columns}
        keyOf={({ id }) => id}
        href={segmentPlace}
        empty={{
          icon: 'audiences',
          title: 'No segments yet',
          act,
          children:
            'A segment is a part of an audience, such as all contacts in Vienna, or those who opened an email within the last month. Membership updates automatically.',
        }}
      >
        {segments.data && segments.data.total > 0 && <div class="filters">{act}</div>}
      </ResourceList>
      {open && (
        <SegmentDialog
          audience={audience}
          {...(open !== 'new' && { segment: open })}
          onClose={() => setOpen(undefined)}
          onDone={segments.reload}
        />
      )}
    </>
  )
}

interface SegmentDialogProps {
  audience: Pick<Audience, 'id'>
  segment?: Segment
  onClose: () => void
  onDone: () => void
}

function SegmentDialog({ audience, segment, onClose, onDone }: SegmentDialogProps) {
  const draft = useDraft(
    `segment.${audience.id}.${segment?.id ?? 'new'}`,
    { name: segment?.name ?? '', filters: segment?.filters ?? FIRST_FILTERS },
    segment?.updated_at,
  )
  const { name, filters } = draft.value
  const path = `/audiences/${audience.id}/segments`
  return (
    <FormDialog
      title={segment ? `Edit ${segment.name}` : 'Create segment'}
      act={segment ? 'Save segment' : 'Create segment'}
      wide
      draft={draft}
      onClose={onClose}
      onSubmit={async () => {
        const body = { name, filters }
        await (segment ? call('PUT', `${path}/${segment.id}`, body) : call('POST', path, body))
        onDone()
        onClose()
      }}
    >
      {error => (
        <>
          <TextField label="Name" required {...draft.field('name')} fault={error?.of('name')} />
          <FilterFields
            audience={audience}
            filters={filters}
            onFilters={value => draft.change({ filters: value })}
          />
          {error?.fields
            .filter(({ path: at }) => at.startsWith('filters') && error.of(at))
            .map(({ path: at, message }) => (
              <p key={at} class="advice">
                {conditionFault(message)}
              </p>
            ))}
          <LiveCount path={path} filters={filters} />
        </>
      )}
    </FormDialog>
  )
}
