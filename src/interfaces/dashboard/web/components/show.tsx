/** Read-only components: badges, times, facts, cards and page headers. */
import type { ComponentChildren, Ref } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Link, useLocation } from 'wouter-preact'
import type { Tone } from '../labels/status.ts'
import { exactTime, fullTime } from '../labels/time.ts'
import { Icon } from './icons.tsx'
import { sectionOf } from './sections.ts'

export function Mark({ tone, children, title }: { tone: Tone; children: ComponentChildren; title?: string }) {
  return (
    <span class={tone === 'none' ? 'mark' : `mark mark-${tone}`} {...(title && { title })}>
      {children}
    </span>
  )
}

/** @param or placeholder for a missing time */
export function Time({ at, or = '–' }: { at: string | null | undefined; or?: string }) {
  if (!at) return <span class="faint">{or}</span>
  return (
    <time dateTime={at} title={fullTime(at)}>
      {exactTime(at)}
    </time>
  )
}

interface HeadProps {
  title: string
  /** Number of what the page lists, beside the title. */
  count?: string | undefined
  /** Name of the window, if it differs from the title. */
  windowTitle?: string
  lead?: ComponentChildren
  /** Link back to the list page. */
  from?: readonly [href: string, label: string]
  children?: ComponentChildren
}

/** Path of the page that is shown; empty between two pages. */
let shownPath: string | undefined

/**
 * Names the window after the title of the page, and focuses the heading when a link has led to the page, so
 * that screen readers say it and the keyboard begins there.
 * @returns the reference of the heading
 */
export function useTitle(title: string): Ref<HTMLHeadingElement> {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Mailhorn`
  }, [title])
  // An ordinary effect runs a frame later and not at all on a page that has been left by then.
  useLayoutEffect(() => {
    const path = location.pathname
    const isNew = shownPath !== undefined && shownPath !== path
    shownPath = path
    const isBusy = document.activeElement?.matches('main :is(input, textarea, select), dialog *')
    if (isNew && !isBusy) heading.current?.focus({ preventScroll: true })
    return () => {
      if (location.pathname !== path) shownPath = ''
    }
  }, [])
  return heading
}

/** Header of a page, with the tabs of its section. */
export function Head({ title, count, windowTitle = title, lead, from, children }: HeadProps) {
  const heading = useTitle(windowTitle)
  return (
    <>
      <header class="page-head">
        <div>
          {from && (
            <Link href={from[0]} class="crumb">
              <Icon name="back" size={14} />
              {from[1]}
            </Link>
          )}
          <div class="page-title">
            <h1 ref={heading} tabIndex={-1}>
              <bdi>{title}</bdi>
            </h1>
            {count && <span class="number">{count}</span>}
          </div>
          {lead && <p>{lead}</p>}
        </div>
        {children && <div class="row">{children}</div>}
      </header>
      <SectionTabs />
    </>
  )
}

/** Room beside the tab of the page, in which a part of the tab before is seen. */
const TAB_MARGIN_PX = 56

/** Links to the pages of the section, on these pages. The tab of the page is scrolled into view. */
function SectionTabs() {
  const [path] = useLocation()
  const tabs = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const here = tabs.current?.querySelector<HTMLElement>('[aria-current]')
    if (here && tabs.current)
      tabs.current.scrollLeft = here.offsetLeft - tabs.current.offsetLeft - TAB_MARGIN_PX
  }, [path])
  const section = sectionOf(path)
  if (!section || section.pages.length === 1 || !section.pages.some(([page]) => page === path)) return null
  return (
    <nav class="tabs" aria-label={section.label} ref={tabs}>
      {section.pages.map(([page, label]) => (
        <Link key={page} href={page} {...(page === path && { 'aria-current': 'page' as const })}>
          {label}
        </Link>
      ))}
    </nav>
  )
}

interface CardProps {
  title?: string
  /** Name for screen readers, where another card of the page has the same title. */
  label?: string | undefined
  lead?: ComponentChildren
  acts?: ComponentChildren
  /** Whether the content has margins, like a table. */
  flush?: boolean
  children?: ComponentChildren
}

interface SectionHeadProps {
  kind: 'card-head' | 'resource-head'
  title: string | undefined
  lead: ComponentChildren
  acts: ComponentChildren
}

/** Heading of a card or a list; nothing without a title. */
export function SectionHead({ kind, title, lead, acts }: SectionHeadProps) {
  if (!title) return null
  return (
    <div class={kind}>
      <div>
        <h2>{title}</h2>
        {lead && <p>{lead}</p>}
      </div>
      {acts && <div class="row">{acts}</div>}
    </div>
  )
}

export function Card({ title, label = title, lead, acts, flush, children }: CardProps) {
  return (
    <section class="card" {...(label && { 'aria-label': label })}>
      <SectionHead kind="card-head" title={title} lead={lead} acts={acts} />
      {flush ? children : <div class="card-body">{children}</div>}
    </section>
  )
}

export function Facts({ rows }: { rows: readonly (readonly [string, ComponentChildren] | false | null)[] }) {
  return (
    <dl class="facts">
      {rows.map(
        row =>
          row && (
            <>
              <dt>{row[0]}</dt>
              <dd>{row[1]}</dd>
            </>
          ),
      )}
    </dl>
  )
}

/** @param share number between 0 and 1 */
export function Meter({ share, label, bad }: { share: number; label: string; bad?: boolean }) {
  const percent = Math.min(100, Math.max(0, share * 100))
  return (
    <svg
      class={bad ? 'meter is-bad' : 'meter'}
      viewBox="0 0 100 1"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: ${Math.round(percent)} %`}
    >
      <rect width={percent} height="1" />
    </svg>
  )
}
