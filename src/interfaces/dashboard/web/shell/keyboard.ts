/** Keyboard shortcuts: `/` focuses the search, `g` and a letter opens a page. */
import { useLayoutEffect } from 'preact/hooks'

const PLACES: Readonly<Record<string, string>> = {
  o: '/',
  e: '/emails',
  d: '/domains',
  t: '/templates',
  k: '/keys',
  q: '/queue',
}
const BETWEEN_MS = 1_200

/** Uses a layout effect, because an ordinary effect runs a frame later and could miss a key. */
export function useKeyboard(go: (path: string) => void): void {
  useLayoutEffect(() => {
    let goingUntil = 0
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return
      if (event.key === '/') {
        const search = document.querySelector<HTMLElement>('[data-search]')
        if (search) event.preventDefault()
        return search?.focus()
      }
      const path = PLACES[event.key]
      if (path && Date.now() < goingUntil) go(path)
      goingUntil = event.key === 'g' ? Date.now() + BETWEEN_MS : 0
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [go])
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, dialog') !== null
}
