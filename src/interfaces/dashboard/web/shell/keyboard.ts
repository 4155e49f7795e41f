/** Keyboard shortcuts of all pages. `shell/shortcuts.tsx` lists them. */
import { signal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { isOperator } from '../api/session.ts'
import type { IconName } from '../components/icons.tsx'
import { SECTION_GROUPS, USER_PAGES } from '../components/sections.ts'

/** Which of the dialogs that every page has is open. */
export const openDialog = signal<'palette' | 'shortcuts' | undefined>(undefined)

const BETWEEN_MS = 1_200

/** Letters that lead to a page after `g`. */
const KEYS: Readonly<Record<string, string>> = {
  ...{ '/': 'o', '/emails': 'e', '/suppressions': 's', '/inbox': 'i', '/broadcasts': 'b', '/audiences': 'a' },
  ...{ '/templates': 't', '/domains': 'd', '/webhooks': 'w', '/keys': 'k', '/smtp': 'm', '/logs': 'l' },
  ...{ '/queue': 'q', '/destinations': 'n', '/deliverability': 'v', '/accounts': 'c', '/setup': 'g' },
  ...{ '/backups': 'r', '/certificates': 'x', '/configuration': 'y', '/storage': 'h', '/server-log': 'z' },
  ...{ '/inbox/routes': 'j', '/usage': 'u', '/settings': 'p', '/start': 'f' },
}

interface Place {
  path: string
  label: string
  icon: IconName
  key: string
  /** Section of a page that is a tab of it, otherwise empty. */
  section: string
}

/** Returns the pages that the user has access to. */
export function ownPlaces(): Place[] {
  const sections = SECTION_GROUPS.flat().filter(({ isOperators }) => !isOperators || isOperator())
  const pages = sections.flatMap(({ label: section, icon, pages }) =>
    pages.map(([path, label]) => ({ path, label, icon, section: section === label ? '' : section })),
  )
  const own = USER_PAGES.map(([path, label, icon]) => ({ path, label, icon, section: '' }))
  return [...pages, ...own].map(place => ({ ...place, key: KEYS[place.path] ?? '' }))
}

/** Uses a layout effect, because an ordinary effect runs a frame later and could miss a key. */
export function useKeyboard(go: (path: string) => void): void {
  useLayoutEffect(() => {
    let goingUntil = 0
    const press = (event: KeyboardEvent) => {
      if (event.altKey) return
      if (event.ctrlKey || event.metaKey) return pressWithControl(event)
      if (isSearch(event.target) && ['Enter', 'ArrowDown'].includes(event.key)) {
        event.preventDefault()
        return focusRow(1)
      }
      if (isWriting(event.target)) return
      const path = Date.now() < goingUntil && ownPlaces().find(({ key }) => key === event.key)?.path
      goingUntil = event.key === 'g' && !path ? Date.now() + BETWEEN_MS : 0
      if (path) return go(path)
      if (event.key === '/') return focusSearch(event)
      if (event.key === '?') openDialog.value = 'shortcuts'
      if (event.key === 'j') focusRow(1)
      if (event.key === 'k') focusRow(-1)
      if (event.key === 'x' || event.key === 'X') chooseRow(event.shiftKey)
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [go])
}

function pressWithControl(event: KeyboardEvent): void {
  const key = event.key.toLowerCase()
  if (key === 'k' && (openDialog.value || !document.querySelector('dialog[open]'))) {
    event.preventDefault()
    openDialog.value = openDialog.value === 'palette' ? undefined : 'palette'
  }
  const save = key === 's' ? document.querySelector<HTMLButtonElement>('main [data-save]') : null
  if (!save) return
  event.preventDefault()
  if (!document.querySelector('dialog[open]')) save.click()
}

function focusSearch(event: KeyboardEvent): void {
  const search = document.querySelector<HTMLElement>('[data-search]')
  if (!search) return
  event.preventDefault()
  search.focus()
}

/** Focuses the next or the former row of the lists of the page, or its first row. */
function focusRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll('main .list tbody tr')].flatMap(
    row => row.querySelector<HTMLElement>('a.cell') ?? row.querySelector<HTMLElement>('a, button') ?? [],
  )
  const at = rows.findIndex(row => row.closest('tr')!.contains(document.activeElement))
  rows[at < 0 ? 0 : Math.min(Math.max(at + step, 0), rows.length - 1)]?.focus()
}

/** Selects the row that has the focus, or deselects it. */
function chooseRow(shiftKey: boolean): void {
  const row = document.activeElement?.closest('main .list tbody tr')
  const choice = row?.querySelector('.is-choice input')
  choice?.dispatchEvent(new MouseEvent('click', { shiftKey, bubbles: true, cancelable: true }))
}

export function focusFirstRow(): void {
  const row = document.querySelector<HTMLElement>('main .list tbody :is(a.cell, a, button)')
  ;(row ?? document.getElementById('page'))?.focus()
}

function isSearch(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('[data-search]')
}

function isWriting(target: EventTarget | null): boolean {
  const field = 'input:not([type="checkbox"], [type="radio"]), textarea, select, dialog, [popover]'
  return target instanceof HTMLElement && target.closest(field) !== null
}
