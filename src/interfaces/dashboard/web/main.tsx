/**
 * Entry of the dashboard, a client of the HTTP API in the browser. It shows the sign-in page or the pages of
 * `shell/routes.tsx`.
 */
import { render } from 'preact'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import { Route, Router, Switch, useLocation } from 'wouter-preact'
import { watchConnection } from './api/connection.ts'
import { watchDrafts } from './api/drafts.ts'
import { findSession, session, watchSession } from './api/session.ts'
import { Confirmation } from './components/dialog.tsx'
import { ConnectionLost, Failure, Toasts } from './components/feedback.tsx'
import { sectionOf, USER_PAGES } from './components/sections.ts'
import { Frame } from './shell/frame.tsx'
import { useKeyboard } from './shell/keyboard.ts'
import { Palette } from './shell/palette.tsx'
import { fetchPageOf, ROUTES } from './shell/routes.tsx'
import { Shortcuts } from './shell/shortcuts.tsx'
import { SignIn } from './shell/sign-in.tsx'
import './styles/index.css'
import { followTheme } from './theme/theme.ts'

const BASE = '/dashboard'
const RETRY_MS = 5_000

function Dashboard() {
  const now = session.value
  const isLost = typeof now === 'object' && 'unreachable' in now
  useEffect(() => {
    if (!isLost) return
    const timer = setInterval(() => void findSession(), RETRY_MS)
    return () => clearInterval(timer)
  }, [isLost])
  if (now === 'unknown') return null
  if (now === 'nobody') return <SignIn />
  if ('unreachable' in now)
    return (
      <main class="page">
        <Failure error={now.unreachable} retry={() => void findSession()} />
      </main>
    )
  return <SignedInPages />
}

function nameOf(path: string): string | undefined {
  return sectionOf(path)?.label ?? USER_PAGES.find(([place]) => place === path)?.[1]
}

function SignedInPages() {
  const [path, navigate] = useLocation()
  useKeyboard(navigate)
  // until the head of the page has loaded what it is named after
  useLayoutEffect(() => {
    document.title = `${nameOf(path) ?? 'Not found'} · Mailhorn`
    scrollTo(0, 0)
  }, [path])
  return (
    <>
      <Frame>
        <Switch>
          {ROUTES.map(([pattern, Page]) => (
            <Route key={pattern} path={pattern}>
              {(params: Record<string, string | undefined>) => <Page key={path} params={params} />}
            </Route>
          ))}
        </Switch>
      </Frame>
      <Confirmation />
      <Palette />
      <Shortcuts />
      <ConnectionLost />
      <Toasts />
    </>
  )
}

watchSession()
watchDrafts()
watchConnection()
followTheme()
void findSession()
if (session.value !== 'nobody') fetchPageOf(location.pathname.slice(BASE.length))
render(
  <Router base={BASE}>
    <Dashboard />
  </Router>,
  document.getElementById('app')!,
)
