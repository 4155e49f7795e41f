/** Menu of the signed-in user: usage, settings, theme, and signing out. */
import { useEffect, useId, useRef } from 'preact/hooks'
import { Link, useLocation } from 'wouter-preact'
import { countDrafts } from '../api/drafts.ts'
import { draftOwner, signedIn, signOut } from '../api/session.ts'
import { Choices } from '../components/controls.tsx'
import { confirm } from '../components/dialog.tsx'
import { Icon } from '../components/icons.tsx'
import { USER_PAGES } from '../components/sections.ts'
import { counted } from '../labels/numbers.ts'
import { chooseTheme, type Theme, theme } from '../theme/theme.ts'

export function UserMenu() {
  const { user, account } = signedIn()
  const [path] = useLocation()
  const id = useId()
  const menu = useRef<HTMLDivElement>(null)
  const close = () => menu.current?.hidePopover()
  useEffect(close, [path])
  return (
    <>
      <button type="button" class="user" popovertarget={id}>
        <span class="unseen">Account menu: </span>
        <span class="line" title={user.email}>
          {user.email}
        </span>
        <span class="line quiet" title={account.name}>
          {account.name}
        </span>
        <Icon name="updown" size={16} />
      </button>
      <div class="menu" id={id} popover="auto" ref={menu}>
        {USER_PAGES.map(([href, label, icon]) => (
          <Link
            key={href}
            href={href}
            class="side-link"
            onClick={close}
            {...(href === path && { 'aria-current': 'page' as const })}
          >
            <Icon name={icon} />
            {label}
          </Link>
        ))}
        <a class="side-link" href="/docs">
          <Icon name="logs" />
          API reference
        </a>
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
        <button
          type="button"
          class="side-link"
          onClick={() => {
            close()
            askToSignOut()
          }}
        >
          <Icon name="leave" />
          Sign out
        </button>
      </div>
    </>
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
