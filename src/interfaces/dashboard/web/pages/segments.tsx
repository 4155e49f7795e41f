/** Segments of an audience: contacts that match a set of filters. */
import { useEffect, useState } from 'preact/hooks'
import { ApiError, call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Audience, List, Segment, SegmentFilter } from '../api/types.ts'
import { Button, TextField } from '../components/controls.tsx'
import { confirmRemoval, FormDialog } from '../components/dialog.tsx'
import { useDraft } from '../components/draft.tsx'
import { actions, type Column, ResourceList, RowActs } from '../components/list.tsx'
import { plainWords } from '../labels/faults.ts'
import { count, counted } from '../labels/numbers.ts'
import { segmentPlace } from '../labels/places.ts'

type Op = SegmentFilter['op']

const OPS: Readonly<Record<Op, string>> = {
  eq: 'is',
  neq: 'is not',
  contains: 'contains',
  exists: 'exists',
  not_exists: 'does not exist',
}
const FIELDS: Readonly<Record<string, string>> = {
  email: 'Email address',
  first_name: 'First name',
  last_name: 'Last name',
  unsubscribed: 'Unsubscribed',
}
const COMPARES_NOTHING: ReadonlySet<Op> = new Set(['exists', 'not_exists'])
const SETTLED_MS = 300

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
            'A segment is a part of an audience, such as all contacts in Vienna. Membership updates automatically.',
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

/** Formats a condition, such as `city is “Graz”`. */
export function filterWords({ field, op, value }: SegmentFilter): string {
  const name = FIELDS[field] ?? field.replace(/^properties\./, '')
  return COMPARES_NOTHING.has(op) ? `${name} ${OPS[op]}` : `${name} ${OPS[op]} “${value}”`
}

const NEW_FILTER: SegmentFilter = { field: 'email', op: 'eq', value: '' }
export const FIRST_FILTERS = [NEW_FILTER]

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
                {plainWords(message)}
              </p>
            ))}
          <LiveCount path={path} filters={filters} />
        </>
      )}
    </FormDialog>
  )
}

interface FilterFieldsProps {
  audience: Pick<Audience, 'id'>
  filters: readonly SegmentFilter[]
  onFilters: (filters: SegmentFilter[]) => void
}

export function FilterFields({ audience, filters, onFilters }: FilterFieldsProps) {
  const properties = useLoad<List<{ key: string }>>(`/audiences/${audience.id}/properties`)
  const fields = [
    ...Object.entries(FIELDS),
    ...(properties.data?.data ?? []).map(({ key }) => [`properties.${key}`, key] as const),
  ]
  const change = (i: number, changes: Partial<SegmentFilter>) =>
    onFilters(filters.map((filter, j) => (i === j ? { ...filter, ...changes } : filter)))
  return (
    <fieldset class="stack stack-tight">
      <legend class="label">
        <b class="small">Contacts match all of these conditions</b>
      </legend>
      {filters.map(({ field, op, value }, i) => (
        <div class="row" key={i}>
          <select
            class="input grow"
            aria-label={`Field of condition ${i + 1}`}
            value={field}
            onChange={event => change(i, { field: event.currentTarget.value })}
          >
            {fields.map(([one, label]) => (
              <option key={one} value={one}>
                {label}
              </option>
            ))}
          </select>
          <select
            class="input grow"
            aria-label={`Operator of condition ${i + 1}`}
            value={op}
            onChange={event => change(i, { op: event.currentTarget.value as Op })}
          >
            {Object.entries(OPS).map(([one, label]) => (
              <option key={one} value={one}>
                {label}
              </option>
            ))}
          </select>
          {!COMPARES_NOTHING.has(op) && (
            <input
              class="input grow"
              aria-label={`Value of condition ${i + 1}`}
              value={String(value ?? '')}
              onInput={event => change(i, { value: event.currentTarget.value })}
            />
          )}
          <Button
            kind="plain"
            icon="cross"
            label={`Remove condition ${i + 1}`}
            onClick={() => onFilters(filters.filter((_, j) => i !== j))}
          />
        </div>
      ))}
      <div>
        <Button small icon="plus" onClick={() => onFilters([...filters, NEW_FILTER])}>
          Add condition
        </Button>
      </div>
    </fieldset>
  )
}

/** Live count of matching contacts while the filters are edited. */
export function LiveCount({ path, filters }: { path: string; filters: readonly SegmentFilter[] }) {
  const [found, setFound] = useState<number>()
  const asked = JSON.stringify({ filters })
  useEffect(() => {
    let isOver = false
    const timer = setTimeout(async () => {
      const answer = await call<{ contact_count: number }>('POST', `${path}/count`, JSON.parse(asked)).catch(
        (error: unknown) => {
          // incomplete filters may be invalid
          if (!(error instanceof ApiError)) throw error
          return undefined
        },
      )
      if (!isOver) setFound(answer?.contact_count)
    }, SETTLED_MS)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [asked])
  return (
    <p role="status" class="quiet">
      {found === undefined ? 'Counting …' : `${counted(found, 'contact matches', 'contacts match')}.`}
    </p>
  )
}
