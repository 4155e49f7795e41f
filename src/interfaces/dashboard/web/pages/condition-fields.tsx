/** Form fields for the conditions of a segment or of a list of contacts, with the number of matches. */
import { useEffect, useState } from 'preact/hooks'
import { type FilterOp, isPropertyField, opsOf } from '../../../../resources/contacts/filter-ops.ts'
import { PERIOD_DAYS_MAX } from '../../../../resources/contacts/limits.ts'
import { ApiError, call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { Audience, List, SegmentFilter } from '../api/types.ts'
import { Button } from '../components/controls.tsx'
import {
  ACTIVITY_FIELDS,
  CONTACT_FIELDS,
  conditionFault,
  dayOf,
  firstFilter,
  isActivity,
  listOf,
  OPS,
  startOf,
  valueKind,
  withField,
  withOp,
} from '../labels/conditions.ts'
import { counted } from '../labels/numbers.ts'

const SETTLED_MS = 300
const NEW_FILTER = firstFilter('email')
export const FIRST_FILTERS = [NEW_FILTER]

interface FilterFieldsProps {
  audience: Pick<Audience, 'id'>
  filters: readonly SegmentFilter[]
  onFilters: (filters: SegmentFilter[]) => void
}

export function FilterFields({ audience, filters, onFilters }: FilterFieldsProps) {
  const properties = useLoad<List<{ key: string }>>(`/audiences/${audience.id}/properties`)
  const keys = (properties.data?.data ?? []).map(({ key }) => [`properties.${key}`, key] as const)
  const change = (i: number, filter: SegmentFilter) =>
    onFilters(filters.map((other, j) => (i === j ? filter : other)))
  return (
    <fieldset class="stack stack-tight">
      <legend class="label">
        <b class="small">Contacts match all of these conditions</b>
      </legend>
      {filters.map((filter, i) => (
        <div class="row" key={i}>
          <select
            class="input grow"
            aria-label={`Field of condition ${i + 1}`}
            value={filter.field}
            onChange={event => change(i, withField(filter, event.currentTarget.value))}
          >
            <Choices label="Contact" choices={Object.entries(CONTACT_FIELDS)} />
            <Choices label="Activity" choices={Object.entries(ACTIVITY_FIELDS)} />
            {keys.length > 0 && <Choices label="Properties" choices={keys} />}
          </select>
          <select
            class="input grow"
            aria-label={`Operator of condition ${i + 1}`}
            value={filter.op}
            onChange={event => change(i, withOp(filter, event.currentTarget.value as FilterOp))}
          >
            {opsOf(filter.field).map(op => (
              <option key={op} value={op}>
                {OPS[op]}
              </option>
            ))}
          </select>
          <ValueField
            label={`Value of condition ${i + 1}`}
            filter={filter}
            onValue={value => change(i, { ...filter, value })}
          />
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
      {filters.some(isActivity) && (
        <p class="quiet small">
          The times of the last email, open and click are kept with the contact from the day they were added,
          also after the emails are deleted. Opens and clicks by machines do not count, and opens without
          pictures are not seen.
        </p>
      )}
    </fieldset>
  )
}

function Choices({ label, choices }: { label: string; choices: readonly (readonly [string, string])[] }) {
  return (
    <optgroup label={label}>
      {choices.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </optgroup>
  )
}

interface ValueFieldProps {
  label: string
  filter: SegmentFilter
  onValue: (value: SegmentFilter['value']) => void
}

function ValueField({ label, filter, onValue }: ValueFieldProps) {
  const { value } = filter
  const kind = valueKind(filter)
  if (kind === 'none') return null
  if (kind === 'flag')
    return (
      <select
        class="input grow"
        aria-label={label}
        value={String(value)}
        onChange={event => onValue(event.currentTarget.value)}
      >
        <option value="true">yes</option>
        <option value="false">no</option>
      </select>
    )
  if (kind === 'days')
    return (
      <span class="row grow">
        <input
          class="input grow"
          type="number"
          min={1}
          max={PERIOD_DAYS_MAX}
          required
          aria-label={`${label}, in days`}
          value={String(value ?? '')}
          onInput={({ currentTarget: { value: text } }) => onValue(text === '' ? '' : Number(text))}
        />
        days
      </span>
    )
  if (kind === 'list') return <ListField label={label} values={value as string[]} onValues={onValue} />
  const isPlainDay = isPropertyField(filter.field)
  return kind === 'date' ? (
    <input
      class="input grow"
      type="date"
      required
      aria-label={label}
      value={isPlainDay ? String(value ?? '') : dayOf(value)}
      onInput={({ currentTarget: { value: text } }) => onValue(isPlainDay ? text : startOf(text))}
    />
  ) : (
    <input
      class="input grow"
      aria-label={label}
      value={String(value ?? '')}
      onInput={event => onValue(event.currentTarget.value)}
    />
  )
}

interface ListFieldProps {
  label: string
  values: readonly string[]
  onValues: (values: string[]) => void
}

/** Values with commas between them; what is typed stays as it is. */
function ListField({ label, values, onValues }: ListFieldProps) {
  const [typed, setTyped] = useState(values.join(', '))
  const isOwn = JSON.stringify(listOf(typed)) === JSON.stringify(values)
  return (
    <input
      class="input grow"
      required
      placeholder="Vienna, Wien"
      aria-label={`${label}, separated by commas`}
      value={isOwn ? typed : values.join(', ')}
      onInput={({ currentTarget: { value: text } }) => {
        setTyped(text)
        onValues(listOf(text))
      }}
    />
  )
}

/** Live count of matching contacts while the filters are edited; the reason why there is none. */
export function LiveCount({ path, filters }: { path: string; filters: readonly SegmentFilter[] }) {
  const [found, setFound] = useState<string>()
  const asked = JSON.stringify({ filters })
  useEffect(() => {
    let isOver = false
    const timer = setTimeout(async () => {
      const text = await call<{ contact_count: number }>('POST', `${path}/count`, JSON.parse(asked)).then(
        answer => `${counted(answer.contact_count, 'contact matches', 'contacts match')}.`,
        (error: unknown) => {
          // incomplete filters may be invalid
          if (!(error instanceof ApiError)) throw error
          return conditionFault(error.message)
        },
      )
      if (!isOver) setFound(text)
    }, SETTLED_MS)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [asked])
  return (
    <p role="status" class="quiet">
      {found ?? 'Counting …'}
    </p>
  )
}
