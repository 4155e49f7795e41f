/** Filters stored in the query string, so that a link reproduces the view. */
import { useCallback } from 'preact/hooks'
import { useLocation, useSearch } from 'wouter-preact'

type Change = Readonly<Record<string, string | null>>

export interface Query {
  get(name: string): string
  /**
   * Changes filters. Null and an empty string remove a filter. Returns to the first page unless the change
   * sets the page.
   */
  set(change: Change): void
  clear(): void
}

export function useQuery(): Query {
  const search = useSearch()
  const [path, navigate] = useLocation()
  const params = new URLSearchParams(search)
  const set = useCallback(
    (change: Change) => {
      const next = new URLSearchParams(search)
      if (!('page' in change)) next.delete('page')
      for (const [name, value] of Object.entries(change))
        if (value === null || value === '') next.delete(name)
        else next.set(name, value)
      const text = next.toString()
      navigate(text === '' ? path : `${path}?${text}`, { replace: !('page' in change) })
    },
    [search, path],
  )
  return {
    get: name => params.get(name) ?? '',
    set,
    clear: () => navigate(path, { replace: true }),
  }
}
