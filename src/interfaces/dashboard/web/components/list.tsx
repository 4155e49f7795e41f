/** Lists of objects: filters, a table with fixed columns, pages, and what stands there instead of rows. */
import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import type { Loaded } from '../api/load.ts'
import type { Query } from '../api/query.ts'
import { count } from '../labels/numbers.ts'
import { Button } from './controls.tsx'
import { Empty, type EmptyProps, Pending } from './feedback.tsx'
import { Icon } from './icons.tsx'
import type { Selection } from './selection.tsx'
import { SectionHead, Time } from './show.tsx'

export interface Column<T> {
  head: string
  kind?: 'number' | 'status' | 'time' | 'acts'
  /** In px, or a share such as `26%`. Columns without a kind and a width share what is left. */
  width?: number | string
  /** Whether it is left out of narrow windows. */
  isExtra?: boolean
  /** Whether text that is too long for a line is wrapped. */
  isWrapped?: boolean
  /** Whole text, shown in one line with an ellipsis, and as a tooltip. */
  text?: (row: T) => string | null | undefined
  /** Content instead of the text. */
  cell?: (row: T) => ComponentChildren
  /** Second line, in every row. */
  second?: (row: T) => string | null | undefined
}

/** Width of an actions column with a single icon. */
const ICON_WIDTH_PX = 56
const KIND_WIDTHS_PX = { number: 104, status: 132, time: 124, acts: 112 } as const

/** Returns the last column of a list, with the buttons of each row. */
export function actions<T>(cell: Column<T>['cell'], width: number = KIND_WIDTHS_PX.acts): Column<T> {
  return { head: 'Actions', kind: 'acts', width, ...(cell && { cell }) }
}

/** @param or placeholder for a missing time */
export function timeColumn<T>(
  head: string,
  at: (row: T) => string | null | undefined,
  or?: string,
  isExtra = false,
): Column<T> {
  return { head, kind: 'time', isExtra, cell: row => <Time at={at(row)} {...(or && { or })} /> }
}

/** What a list shows: all rows at once, or a page of them. */
interface Source<T> extends Pick<Loaded<unknown>, 'error' | 'reload'> {
  data: { data: readonly T[]; total?: number; has_more?: boolean } | undefined
  query?: Query
  /** Whether a filter is set. */
  isFiltered?: boolean
  page?: number
  pageSize?: number
}

interface TableProps<T> {
  /** Name of the list, such as `Emails`. */
  name: string
  columns: readonly Column<T>[]
  keyOf: (row: T) => string
  /** Where a row leads to; undefined for a row that leads nowhere. */
  href?: (row: T) => string | undefined
  /** Set when rows can be selected. */
  selection?: Selection
  /** Name of a row in the label of its checkbox. */
  nameOf?: (row: T) => string
  /** Whether a row stands out as unread. */
  isUnread?: (row: T) => boolean
}

interface ListProps<T> extends TableProps<T> {
  list: Source<T>
  /** Shown when there are no rows and no filters. */
  empty: EmptyProps
  /** Heading of a list that is a part of its page. */
  title?: string
  lead?: ComponentChildren
  acts?: ComponentChildren
  /** Filters and the toolbar for selected rows. */
  children?: ComponentChildren
  /** Stands for the page numbers of lists that have none. */
  foot?: ComponentChildren
}

export function ResourceList<T>({ list, empty, title, lead, acts, children, foot, ...table }: ListProps<T>) {
  return (
    <section class="resource" aria-label={title ?? table.name}>
      <SectionHead kind="resource-head" title={title} lead={lead} acts={acts} />
      {children}
      <Rows list={list} empty={empty} {...table} />
      {list.data && list.data.data.length > 0 && (foot ?? <Pages list={list} />)}
    </section>
  )
}

const WAITING_ROWS = 10

function Rows<T>({ list, empty, ...table }: TableProps<T> & Pick<ListProps<T>, 'list' | 'empty'>) {
  const { data, query, isFiltered, page = 1 } = list
  if (!data) return <Pending of={list} rows={WAITING_ROWS} />
  if (data.data.length > 0) return <Table {...table} rows={data.data} />
  if (query && page > 1)
    return (
      <Empty
        icon="search"
        title="Nothing on this page"
        act={<Button onClick={() => query.set({ page: null })}>Go to the first page</Button>}
      >
        The list has become shorter.
      </Empty>
    )
  if (!query || !isFiltered) return <Empty {...empty} />
  return (
    <Empty icon="search" title="No results" act={<Button onClick={query.clear}>Clear filters</Button>}>
      No results match your filters.
    </Empty>
  )
}

function Table<T>(props: TableProps<T> & { rows: readonly T[] }) {
  const { name, columns, rows, keyOf, selection } = props
  const all = rows.map(keyOf)
  const classes = classesOf(columns)
  /** Key of the row that was chosen last, where a range begins. */
  const start = useRef<string>()
  const choose = (key: string, isChosen: boolean, isRange: boolean) => {
    const from = isRange && start.current !== undefined ? all.indexOf(start.current) : -1
    const to = all.indexOf(key)
    start.current = key
    selection?.choose(from < 0 ? [key] : all.slice(Math.min(from, to), Math.max(from, to) + 1), isChosen)
  }
  return (
    <table class={selection ? 'list has-choice' : 'list'}>
      <caption class="unseen">{name}</caption>
      <colgroup>
        {selection && <col style={{ width: '40px' }} />}
        {columns.map(({ head, kind, width = kind && KIND_WIDTHS_PX[kind] }, i) => (
          <col key={head} class={classes[i]} {...(width && { style: { width } })} />
        ))}
      </colgroup>
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
          {columns.map(({ head, kind }, i) => (
            <th key={head} scope="col" class={classes[i]} title={head}>
              {kind === 'acts' ? <span class="unseen">{head}</span> : head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <Row key={keyOf(row)} {...props} row={row} classes={classes} onChoose={choose} />
        ))}
      </tbody>
    </table>
  )
}

interface RowProps<T> extends TableProps<T> {
  row: T
  classes: readonly string[]
  /** @param isRange whether the rows since the last choice are chosen, too */
  onChoose: (key: string, isChosen: boolean, isRange: boolean) => void
}

function Row<T>({
  row,
  columns,
  classes,
  keyOf,
  href,
  selection,
  nameOf = keyOf,
  isUnread,
  onChoose,
}: RowProps<T>) {
  const key = keyOf(row)
  const [isOpen, setOpen] = useState(false)
  const states = [
    selection?.keys.has(key) && 'is-chosen',
    isUnread?.(row) && 'is-unread',
    isOpen && 'is-open',
  ]
  const place = href?.(row)
  return (
    <tr class={states.filter(Boolean).join(' ')}>
      {selection && (
        <td class="is-choice">
          <Choice
            label={`Select ${nameOf(row)}`}
            checked={selection.keys.has(key)}
            onChange={(isChosen, isRange) => onChoose(key, isChosen, isRange)}
          />
        </td>
      )}
      {columns.map((column, i) => (
        <td key={column.head} class={classes[i]}>
          {place && column.kind !== 'acts' ? (
            // the keyboard needs one link in a row
            <Link href={place} class="cell" {...(i > 0 && { tabIndex: -1 })}>
              <Content column={column} row={row} />
            </Link>
          ) : (
            <div class="cell">
              {column.kind === 'acts' ? (
                <Acts column={column} row={row} isOpen={isOpen} onOpen={setOpen} />
              ) : (
                <Content column={column} row={row} />
              )}
            </div>
          )}
        </td>
      ))}
    </tr>
  )
}

interface ActsProps<T> {
  column: Column<T>
  row: T
  isOpen: boolean
  onOpen: (isOpen: boolean) => void
}

/** Buttons of a row. On a phone, more than one icon opens with a button. */
function Acts<T>({ column: { cell, width }, row, isOpen, onOpen }: ActsProps<T>) {
  return (
    <>
      <span class="row-acts">{cell?.(row)}</span>
      {Number(width) > ICON_WIDTH_PX && (
        <span class="row-more">
          <Button
            small
            kind="plain"
            icon="more"
            label="Actions"
            expanded={isOpen}
            onClick={() => onOpen(!isOpen)}
          />
        </span>
      )}
    </>
  )
}

function Content<T>({ column: { head, text, cell, second }, row }: { column: Column<T>; row: T }) {
  const words = text?.(row)
  const more = second?.(row)
  return (
    <>
      <span class="line" dir="auto" data-label={head} {...(words && { title: words })}>
        {cell ? cell(row) : words || <span class="faint">–</span>}
      </span>
      {second && (
        <span class="line second" dir="auto" {...(more && { title: more })}>
          {more}
        </span>
      )}
    </>
  )
}

/**
 * Returns the classes of the columns. On a phone a row has two lines: the first column and a time above,
 * another column and the status below.
 */
function classesOf<T>(columns: readonly Column<T>[]): string[] {
  const [first, ...others] = columns
  const rest = others.filter(({ kind }) => kind !== 'acts')
  const corner = rest.findLast(({ kind }) => kind === 'time') ?? rest.find(({ kind }) => kind === 'number')
  const badge =
    rest.find(({ kind }) => kind === 'status') ??
    rest.find(column => column.kind === 'number' && column !== corner)
  const below = first?.second ? undefined : rest.find(column => column !== corner && column !== badge)
  const places = new Map([
    [first, first?.second ? 'at-first has-second' : 'at-first'],
    [corner, 'at-corner'],
    [badge, 'at-badge'],
    [below, 'at-below'],
  ])
  return columns.map(column =>
    [
      column.kind && `is-${column.kind}`,
      column.isExtra && 'is-extra',
      column.isWrapped && 'is-wrapped',
      places.get(column),
    ]
      .filter(Boolean)
      .join(' '),
  )
}

interface ChoiceProps {
  label: string
  checked: boolean
  /** @param withShift whether Shift was held */
  onChange: (checked: boolean, withShift: boolean) => void
}

function Choice({ label, checked, onChange }: ChoiceProps) {
  return (
    <input
      type="checkbox"
      aria-label={label}
      checked={checked}
      // a change does not tell of Shift
      onClick={event => onChange(event.currentTarget.checked, event.shiftKey)}
    />
  )
}

export function Pages({ list: { data, query, page = 1, pageSize = 0 } }: { list: Source<unknown> }) {
  if (!data || !query || (page === 1 && !data.has_more)) return null
  const first = (page - 1) * pageSize + 1
  const total = data.total === undefined ? '' : ` of ${count(data.total)}`
  return (
    <nav class="list-foot" aria-label="Pages">
      <span class="number">
        {count(first)} to {count(first + data.data.length - 1)}
        {total}
      </span>
      <span class="row">
        <Button small icon="back" disabled={page === 1} onClick={() => query.set({ page: String(page - 1) })}>
          Previous
        </Button>
        <Button small disabled={!data.has_more} onClick={() => query.set({ page: String(page + 1) })}>
          Next <Icon name="next" size={14} />
        </Button>
      </span>
    </nav>
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
    <>
      <Button small onClick={onChange}>
        Edit
      </Button>
      <Button small kind="plain" icon="trash" label={removal} onClick={onRemove} />
    </>
  )
}
