/** Layout of all pages: the sidebar and the content. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Link, useLocation } from 'wouter-preact'
import { countDrafts } from '../api/drafts.ts'
import { draftOwner, isOperator, signedIn, signOut } from '../api/session.ts'
import { Button, Choices } from '../components/controls.tsx'
import { confirm } from '../components/dialog.tsx'
import { NotThere } from '../components/feedback.tsx'
import { Horn, Icon } from '../components/icons.tsx'
import { counted } from '../labels/numbers.ts'
import { chooseTheme, type Theme, theme } from '../theme/theme.ts'
import { NAV_ITEMS, type NavItem } from './nav.ts'

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
      <div class="top">
        <Brand />
        <Button kind="plain" icon={isOpen ? 'cross' : 'menu'} label="Menu" onClick={() => setOpen(!isOpen)} />
      </div>
      {isOpen && (
        <button type="button" class="side-veil" aria-label="Close menu" onClick={() => setOpen(false)} />
      )}
      <Side isOpen={isOpen} path={path} />
      <main class="page" id="page" tabIndex={-1}>
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
  const { user, account } = signedIn()
  return (
    <nav class={isOpen ? 'side is-open' : 'side'} aria-label="Sections">
      <Brand />
      {NAV_ITEMS.filter(({ isOperators }) => !isOperators || isOperator()).map(({ label = '', places }) => (
        <div class="side-group" key={label}>
          {label && <h2>{label}</h2>}
          {places.map(place => (
            <PlaceLink key={place.path} place={place} isHere={isAt(place.path, path)} />
          ))}
        </div>
      ))}
      <div class="side-foot">
        <Choices<Theme>
          label="Theme"
          value={theme.value}
          options={[
            ['system', 'Auto'],
            ['light', 'Light'],
            ['dark', 'Dark'],
          ]}
          onValue={chooseTheme}
        />
        <div class="side-person">
          <div class="address" title={user.email}>
            {user.email}
          </div>
          <div class="row row-apart">
            <span class="quiet">{account.name}</span>
            <Button small kind="plain" icon="leave" label="Sign out" onClick={askToSignOut} />
          </div>
        </div>
      </div>
    </nav>
  )
}

/** Signs out directly when there are no unsaved changes. */
function askToSignOut(): void {
  const draftCount = countDrafts(draftOwner())
  if (draftCount === 0) return void signOut()
  confirm({
    title: 'Discard unsaved changes?',
    text: `${counted(draftCount, 'form has', 'forms have')} unsaved changes in this browser. Signing out removes them.`,
    act: 'Discard and sign out',
    work: signOut,
  })
}

function PlaceLink({ place: { path, label, icon }, isHere }: { place: NavItem; isHere: boolean }) {
  return (
    <Link href={path} class="side-link" {...(isHere && { 'aria-current': 'page' as const })}>
      <Icon name={icon} />
      {label}
    </Link>
  )
}

function isForOthers(path: string): boolean {
  return NAV_ITEMS.some(
    ({ isOperators, places }) => isOperators && !isOperator() && places.some(place => isAt(place.path, path)),
  )
}

function isAt(place: string, path: string): boolean {
  return place === '/' ? path === '/' : path === place || path.startsWith(`${place}/`)
}
