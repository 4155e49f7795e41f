/** Search and filters of a list, whose state is kept in the URL. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Query } from '../api/query.ts'
import { Button } from './controls.tsx'
import { Icon } from './icons.tsx'

const SETTLED_MS = 250

interface FilterBarProps {
  query: Query
  /** Names of the filters in the children. */
  names: readonly string[]
  search: ComponentChildren
  children: ComponentChildren
}

/** Shows the search and the filters of a list. On a phone the filters open with a button. */
export function FilterBar({ query, names, search, children }: FilterBarProps) {
  const [isOpen, setOpen] = useState(false)
  const setCount = names.filter(name => query.get(name) !== '').length
  return (
    <search class={isOpen ? 'filters is-open' : 'filters'}>
      {search}
      <span class="filters-button">
        <Button icon="filter" expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Filters{setCount > 0 && ` (${setCount})`}
        </Button>
      </span>
      <div class="filters-more">{children}</div>
    </search>
  )
}

interface SearchProps {
  query: Query
  name?: string
  label: string
  /** Examples of what can be searched for; otherwise the label. */
  hint?: string
}

/** Applies the search when the user stops typing. */
export function Search({ query, name = 'q', label, hint = label }: SearchProps) {
  const held = query.get(name)
  const [text, setText] = useState(held)
  // what was typed while the URL changed to an earlier text is kept
  const applied = useRef(held)
  useEffect(() => {
    if (held !== applied.current) setText(held)
    applied.current = held
  }, [held])
  useEffect(() => {
    if (text === held) return
    const timer = setTimeout(() => {
      applied.current = text
      query.set({ [name]: text })
    }, SETTLED_MS)
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
        placeholder={hint}
        title={hint}
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

/** A filter that is set. */
export interface Chip {
  /** Parameters that it consists of. */
  names: readonly string[]
  label: string
  value: string
}

/** Shows the filters that are set, each with a button that removes it. */
export function Chips({ query, chips }: { query: Query; chips: readonly Chip[] }) {
  if (chips.length === 0) return null
  const remove = (names: readonly string[], isByKeyboard: boolean) => {
    query.set(Object.fromEntries(names.map(name => [name, null])))
    // the button disappears, and the keyboard would begin anew at the top of the page
    if (isByKeyboard) document.querySelector<HTMLElement>('[data-search]')?.focus()
  }
  return (
    <ul class="chips" aria-label="Filters">
      {chips.map(({ names, label, value }) => (
        <li class="chip" key={label}>
          <span class="line" title={`${label}: ${value}`}>
            {label}: <bdi>{value}</bdi>
          </span>
          <button
            type="button"
            aria-label={`Remove filter ${label}: ${value}`}
            onClick={({ detail }) => remove(names, detail === 0)}
          >
            <Icon name="cross" size={12} />
          </button>
        </li>
      ))}
      <li>
        <Button small kind="plain" onClick={query.clear}>
          Clear
        </Button>
      </li>
    </ul>
  )
}
