/** Pages whose code is loaded on demand. */
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Note, Waiting } from './feedback.tsx'

export type LazyPage<P> = ComponentType<P> & {
  /** Starts to load the code before the page is shown. */
  fetch(): void
}

export function lazy<P extends object>(fetchPage: () => Promise<ComponentType<P>>): LazyPage<P> {
  let known: ComponentType<P> | undefined
  let coming: Promise<ComponentType<P>> | undefined
  const fetchOnce = () => {
    coming ??= fetchPage().then(
      page => {
        known = page
        return page
      },
      error => {
        coming = undefined
        throw error
      },
    )
    return coming
  }
  function Lazy(props: P) {
    const [Page, setPage] = useState(() => known)
    const [isLost, setLost] = useState(false)
    useEffect(() => {
      if (Page) return
      fetchOnce().then(
        page => setPage(() => page),
        () => setLost(true),
      )
    }, [])
    if (Page) return <Page {...props} />
    if (!isLost) return <Waiting />
    return (
      <Note tone="warn">
        <p>
          <b>This page could not be loaded.</b> The service may be down or may have been updated.
        </p>
        <p>
          <a href={location.href}>Reload page</a>
        </p>
      </Note>
    )
  }
  // a failure is shown by the page itself
  return Object.assign(Lazy, { fetch: () => void fetchOnce().catch(() => undefined) })
}
