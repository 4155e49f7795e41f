/** Tables with columns, filters and pages, whose state is kept in the URL. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Loaded } from '../api/load.ts'
import type { Query } from '../api/query.ts'
import type { List } from '../api/types.ts'
import { count } from '../labels/numbers.ts'
import { Button } from './controls.tsx'
import { Empty, Pending } from './feedback.tsx'
import { Icon } from './icons.tsx'
import type { Paged } from './paged.ts'
import type { Selection } from './selection.tsx'

export interface Column<T> {
  head: string
  kind?: 'number' | 'tight' | 'acts'
  cell: (row: T) => ComponentChildren
}

/** Returns the last column of a table, with the buttons of each row. */
export function actions<T>(cell: Column<T>['cell']): Column<T> {
  return { head: 'Actions', kind: 'acts', cell }
}

interface TableProps<T> {
  caption: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string
  /** Set when rows can be selected. */
  selection?: Selection | undefined
  /** Name of a row in the label of its checkbox. */
  nameOf?: ((row: T) => string) | undefined
}

export function Table<T>({ caption, columns, rows, keyOf, selection, nameOf }: TableProps<T>) {
  const classOf = ({ kind }: Column<T>) => (kind ? `is-${kind}` : '')
  const all = rows.map(keyOf)
  return (
    <table class="list">
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {selection && (
            <th scope="col" class="is-choice">
              <Choice
                label="Select all on this page"
                checked={all.length > 0 && all.every(key => selection.keys.has(key))}
                onChange={isChosen => selection.choose(all, isChosen)}
              />
            </th>
          )}
          {columns.map(column => (
            <th key={column.head} scope="col" class={classOf(column)}>
              {column.kind === 'acts' ? <span class="unseen">{column.head}</span> : column.head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <tr key={keyOf(row)} class={selection?.keys.has(keyOf(row)) ? 'is-chosen' : ''}>
            {selection && (
              <td class="is-choice">
                <Choice
                  label={`Select ${nameOf?.(row) ?? keyOf(row)}`}
                  checked={selection.keys.has(keyOf(row))}
                  onChange={isChosen => selection.choose([keyOf(row)], isChosen)}
                />
              </td>
            )}
            {columns.map((column, i) => (
              <td
                key={column.head}
                class={classOf(column)}
                {...(i > 0 && column.kind !== 'acts' && { 'data-label': column.head })}
              >
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface ChoiceProps {
  label: string
  checked: boolean
  onChange: (checked: boolean) => void
}

function Choice({ label, checked, onChange }: ChoiceProps) {
  return (
    <input
      type="checkbox"
      aria-label={label}
      checked={checked}
      onChange={event => onChange(event.currentTarget.checked)}
    />
  )
}

const WAITING_ROWS = 6

interface PagedProps<T> extends Omit<TableProps<T>, 'rows'> {
  list: Paged<T>
  /** Shown when the list is empty without filters. */
  empty: ComponentChildren
}

export function PagedTable<T>({ list, empty, ...table }: PagedProps<T>) {
  const { data, query, page } = list
  if (!data) return <Pending of={list} rows={WAITING_ROWS} flush />
  if (data.data.length === 0)
    return query.isFiltered || page > 1 ? (
      <Empty icon="search" title="No results" act={<Button onClick={query.clear}>Clear filters</Button>}>
        No results match your filters.
      </Empty>
    ) : (
      empty
    )
  return (
    <>
      <Table {...table} rows={data.data} />
      <Pages list={list} shown={data} />
    </>
  )
}

interface ListTableProps<T> extends Omit<TableProps<T>, 'rows'> {
  list: Pick<Loaded<{ data: readonly T[] }>, 'data' | 'error' | 'reload'>
  empty?: ComponentChildren
}

/** Shows a list without pages. */
export function ListTable<T>({ list, empty, ...table }: ListTableProps<T>) {
  if (!list.data) return <Pending of={list} flush />
  if (list.data.data.length === 0 && empty) return empty
  return <Table {...table} rows={list.data.data} />
}

interface PagesProps {
  list: Paged<unknown>
  shown: List<unknown>
}

function Pages({ list: { query, page, pageSize }, shown }: PagesProps) {
  const first = (page - 1) * pageSize + 1
  if (page === 1 && !shown.has_more) return null
  return (
    <nav class="list-foot" aria-label="Pages">
      <span class="number">
        {count(first)} to {count(first + shown.data.length - 1)} of {count(shown.total)}
      </span>
      <span class="row">
        <Button small icon="back" disabled={page === 1} onClick={() => query.set({ page: String(page - 1) })}>
          Previous
        </Button>
        <Button small disabled={!shown.has_more} onClick={() => query.set({ page: String(page + 1) })}>
          Next <Icon name="next" size={14} />
        </Button>
      </span>
    </nav>
  )
}

const SETTLED_MS = 250

/** Applies the search when the user stops typing. */
export function Search({ query, name = 'q', label }: { query: Query; name?: string; label: string }) {
  const held = query.get(name)
  const [text, setText] = useState(held)
  useEffect(() => setText(held), [held])
  useEffect(() => {
    if (text === held) return
    const timer = setTimeout(() => query.set({ [name]: text }), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <div class="search">
      <Icon name="search" size={15} />
      <input
        class="input"
        type="search"
        data-search
        aria-label={label}
        placeholder={label}
        value={text}
        onInput={event => setText(event.currentTarget.value)}
      />
    </div>
  )
}

interface FilterProps {
  query: Query
  name: string
  label: string
  options: readonly (readonly [value: string, label: string])[]
}

export function Filter({ query, name, label, options }: FilterProps) {
  return (
    <select
      class="input"
      aria-label={label}
      value={query.get(name)}
      onChange={event => query.set({ [name]: event.currentTarget.value })}
    >
      <option value="">{label}</option>
      {options.map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </select>
  )
}

interface RowActsProps {
  onChange: () => void
  /** Label such as "Delete Offers". */
  removal: string
  onRemove: () => void
}

/** Edit and delete buttons of a row. */
export function RowActs({ onChange, removal, onRemove }: RowActsProps) {
  return (
    <span class="row">
      <Button small onClick={onChange}>
        Edit
      </Button>
      <Button small kind="plain" icon="trash" label={removal} onClick={onRemove} />
    </span>
  )
}
