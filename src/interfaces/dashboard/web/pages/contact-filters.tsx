/** Filters of the contacts of an audience by conditions, such as those of a segment, kept in the URL. */
import { useState } from 'preact/hooks'
import type { Query } from '../api/query.ts'
import type { Audience, SegmentFilter } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import { rangeIn } from '../components/date-range.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { type Chip, Chips } from '../components/filters.tsx'
import { filterWords } from '../labels/conditions.ts'
import { rangeWords } from '../labels/ranges.ts'
import { FIRST_FILTERS, FilterFields, LiveCount } from './condition-fields.tsx'

interface ConditionsProps {
  audience: Pick<Audience, 'id'>
  query: Query
}

/** Opens a form for conditions on fields, properties and activity. */
export function Conditions({ audience, query }: ConditionsProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button icon="filter" onClick={() => setOpen(true)}>
        Conditions …
      </Button>
      {isOpen && <ConditionsDialog audience={audience} query={query} onClose={() => setOpen(false)} />}
    </>
  )
}

function ConditionsDialog({ audience, query, onClose }: ConditionsProps & { onClose: () => void }) {
  const [filters, setFilters] = useState<readonly SegmentFilter[]>(() => {
    const set = conditionsIn(query)
    return set.length > 0 ? set : FIRST_FILTERS
  })
  return (
    <FormDialog
      title="Filter contacts"
      act="Show contacts"
      wide
      onClose={onClose}
      onSubmit={async () => {
        query.set({ filters: filters.length > 0 ? JSON.stringify(filters) : null })
        onClose()
      }}
    >
      {() => (
        <>
          <FilterFields audience={audience} filters={filters} onFilters={setFilters} />
          <LiveCount path={`/audiences/${audience.id}/segments`} filters={filters} />
        </>
      )}
    </FormDialog>
  )
}

/** The filters that no control of the list shows, each with a button that removes it. */
export function ContactChips({ query }: { query: Query }) {
  const conditions = conditionsIn(query).map(filterWords).join(' and ')
  const range = rangeWords(rangeIn(query), new Date())
  const chips: Chip[] = [
    ...(conditions ? [{ names: ['filters'], label: 'Conditions', value: conditions }] : []),
    ...(range ? [{ names: ['created_after', 'created_before'], label: 'Added', value: range }] : []),
  ]
  return <Chips query={query} chips={chips} />
}

/** Conditions in the URL, which a person may have edited. */
function conditionsIn(query: Query): readonly SegmentFilter[] {
  try {
    const found = JSON.parse(query.get('filters') || '[]') as unknown
    const isWhole = Array.isArray(found) && found.every(one => typeof one?.field === 'string')
    return isWhole ? (found as SegmentFilter[]) : []
  } catch (error) {
    // the API says what is wrong
    if (!(error instanceof SyntaxError)) throw error
    return []
  }
}
