/** A page whose code is fetched when somebody goes there. */
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Note, Waiting } from '../parts/feedback.tsx'

export function lazy<P extends object>(fetchPage: () => Promise<ComponentType<P>>): ComponentType<P> {
  let known: ComponentType<P> | undefined
  return function Lazy(props: P) {
    const [Page, setPage] = useState(() => known)
    const [isLost, setLost] = useState(false)
    useEffect(() => {
      if (known) return
      fetchPage().then(
        page => {
          known = page
          setPage(() => page)
        },
        () => setLost(true),
      )
    }, [])
    if (Page) return <Page {...props} />
    if (!isLost) return <Waiting />
    return (
      <Note tone="warn">
        <p>
          <b>This page could not be loaded.</b> The service may have been updated or be down.
        </p>
        <p>
          <a href={location.href}>Load it again</a>
        </p>
      </Note>
    )
  }
}
