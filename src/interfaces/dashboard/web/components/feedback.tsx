/** Feedback: loading states, errors, empty states and toasts. */
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Link } from 'wouter-preact'
import type { ApiError } from '../api/client.ts'
import { isLost, probe } from '../api/connection.ts'
import { plainWords } from '../labels/faults.ts'
import { Icon, type IconName } from './icons.tsx'
import { useTitle } from './show.tsx'

/** @param rows number of rows of the list that is loading, so that the layout does not move */
export function Waiting({ rows }: { rows?: number }) {
  return (
    <div class={rows ? 'waiting is-rows' : 'waiting'} role="status" aria-label="Loading">
      {Array.from({ length: rows ?? 3 }, (_, i) => (
        <i key={`line ${i}`} />
      ))}
    </div>
  )
}

interface PendingProps {
  of: { error: ApiError | undefined; reload: () => void }
  rows?: number
}

/** Stands in for data that is loading or could not be loaded. */
export function Pending({ of: { error, reload }, rows }: PendingProps) {
  if (!error) return <Waiting {...(rows && { rows })} />
  if (error.status === 404) return <NotThere title={error.message} />
  return <Failure error={error} retry={reload} />
}

/** Stands for a page without anything to show. */
export function NotThere({ title, children }: { title: string; children?: ComponentChildren }) {
  const heading = useTitle(title)
  return (
    <div class="empty">
      <Icon name="search" />
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      <p>{children ?? 'The link may be outdated, or the object may have been deleted.'}</p>
      <Link href="/" class="button">
        Go to overview
      </Link>
    </div>
  )
}

export interface EmptyProps {
  icon: IconName
  title: string
  children?: ComponentChildren
  act?: ComponentChildren
}

export function Empty({ icon, title, children, act }: EmptyProps) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {act}
    </div>
  )
}

interface NoteProps {
  tone?: 'bad' | 'warn' | 'good' | 'info'
  /** Whether screen readers announce it at once. */
  isNews?: boolean
  children: ComponentChildren
}

export function Note({ tone = 'info', isNews, children }: NoteProps) {
  const icon = tone === 'good' ? 'check' : tone === 'info' ? 'info' : 'warn'
  return (
    <div class={`note note-${tone}`} role={isNews ? 'alert' : 'note'}>
      <Icon name={icon} />
      <div class="grow">{children}</div>
    </div>
  )
}

/** @param act description of the failure, such as "The domain could not be deleted" */
export function Failure({ error, act, retry }: { error: ApiError; act?: string; retry?: () => void }) {
  return (
    <Note tone="bad" isNews>
      {act && (
        <p>
          <b>{act}.</b>
        </p>
      )}
      <p>{plainWords(error.message) || 'An unexpected error occurred.'}</p>
      {error.status >= 500 && error.status !== 503 && (
        <p class="quiet">The server reported an internal error. Try again in a moment.</p>
      )}
      {error.status === 429 && <p class="quiet">Too many requests. Wait a moment, then try again.</p>}
      {retry && (
        <p>
          <button type="button" class="button button-small" onClick={retry}>
            Try again
          </button>
        </p>
      )}
    </Note>
  )
}

/** Bar over every page while the service does not answer. */
export function ConnectionLost() {
  return (
    <div role="alert" class="lost" hidden={!isLost.value}>
      {isLost.value && (
        <>
          <Icon name="warn" size={16} />
          <span class="grow">Connection lost. What you see may be out of date. Reconnecting …</span>
          <button type="button" class="button button-small" onClick={() => void probe()}>
            Retry now
          </button>
        </>
      )}
    </div>
  )
}

interface Toast {
  id: number
  text: string
  icon: IconName
  /** Path of the page on which it was shown. */
  page: string
}

const toasts = signal<readonly Toast[]>([])
const SHOWN_MS = 6_000
let toastCount = 0

/** Shows a toast in place of those about the same page, which may say the opposite by now. */
export function say(text: string, icon: IconName = 'check'): void {
  const id = ++toastCount
  const page = location.pathname
  toasts.value = [...toasts.value.filter(toast => toast.page !== page).slice(-3), { id, text, icon, page }]
  setTimeout(() => {
    toasts.value = toasts.value.filter(toast => toast.id !== id)
  }, SHOWN_MS)
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, icon }) => (
        <div class="toast" key={id}>
          <Icon name={icon} size={16} />
          <span class="grow">{text}</span>
        </div>
      ))}
    </div>
  )
}
