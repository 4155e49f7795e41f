/** Layout of all pages: the sidebar and the content. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Link, useLocation } from 'wouter-preact'
import { isOperator } from '../api/session.ts'
import { AccountNote } from '../components/account-note.tsx'
import { Button } from '../components/controls.tsx'
import { NotThere } from '../components/feedback.tsx'
import { Horn, Icon } from '../components/icons.tsx'
import { SECTION_GROUPS, type Section, sectionOf } from '../components/sections.ts'
import { ServiceModeNote } from '../components/service-mode.tsx'
import { useUnread } from '../components/unread.ts'
import { focusFirstRow, openDialog } from './keyboard.ts'
import { PALETTE_KEYS } from './shortcuts.tsx'
import { UserMenu } from './user-menu.tsx'

export function Frame({ children }: { children: ComponentChildren }) {
  const [path] = useLocation()
  const [isOpen, setOpen] = useState(false)
  useEffect(() => setOpen(false), [path])
  useEffect(() => {
    if (!isOpen) return
    const close = (event: KeyboardEvent) => event.key === 'Escape' && setOpen(false)
    document.addEventListener('keydown', close)
    return () => document.removeEventListener('keydown', close)
  }, [isOpen])
  return (
    <div class="frame">
      <a class="skip unseen" href="#page">
        Skip to content
      </a>
      <button type="button" class="skip skip-list unseen" onClick={focusFirstRow}>
        Skip to list
      </button>
      <header class="top">
        <Brand />
        <Button kind="plain" icon={isOpen ? 'cross' : 'menu'} label="Menu" onClick={() => setOpen(!isOpen)} />
      </header>
      {isOpen && (
        <button type="button" class="side-veil" aria-label="Close menu" onClick={() => setOpen(false)} />
      )}
      <Side isOpen={isOpen} path={path} />
      <main class="page" id="page" tabIndex={-1}>
        <ServiceModeNote />
        <AccountNote />
        {isForOthers(path) ? (
          <NotThere title="You do not have access to this page">It is for operators of the server.</NotThere>
        ) : (
          children
        )}
      </main>
    </div>
  )
}

function Brand() {
  return (
    <Link href="/" class="brand">
      <Horn /> Mailhorn
    </Link>
  )
}

function Side({ isOpen, path }: { isOpen: boolean; path: string }) {
  const here = sectionOf(path)
  return (
    <nav class={isOpen ? 'side is-open' : 'side'} aria-label="Sections">
      <Brand />
      <button
        type="button"
        class="side-find"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => {
          openDialog.value = 'palette'
        }}
      >
        <Icon name="search" size={15} /> Search everything <kbd>{PALETTE_KEYS}</kbd>
      </button>
      {SECTION_GROUPS.map(sections => (
        <div class="side-group" key={sections[0]!.label}>
          {sections
            .filter(({ isOperators }) => !isOperators || isOperator())
            .map(section => (
              <SectionLink key={section.label} section={section} isHere={section === here} />
            ))}
        </div>
      ))}
      <div class="side-foot">
        <UserMenu />
      </div>
    </nav>
  )
}

interface SectionLinkProps {
  section: Section
  isHere: boolean
}

function SectionLink({ section: { label, icon, pages, hasUnread }, isHere }: SectionLinkProps) {
  return (
    <Link href={pages[0]![0]} class="side-link" {...(isHere && { 'aria-current': 'page' as const })}>
      <Icon name={icon} />
      {label}
      {hasUnread && <Unread />}
    </Link>
  )
}

function Unread() {
  const unread = useUnread()
  if (!unread) return null
  return (
    <span class="side-count number">
      {unread} <span class="unseen">unread</span>
    </span>
  )
}

function isForOthers(path: string): boolean {
  return sectionOf(path)?.isOperators === true && !isOperator()
}
