/** The door: an address, a password, and the horn. */
import { useEffect, useState } from 'preact/hooks'
import { Button, TextField } from '../components/controls.tsx'
import { useAct } from '../components/dialog.tsx'
import { Failure, Note } from '../components/feedback.tsx'
import { Horn } from '../components/icons.tsx'
import { hasExpired, signIn } from './session.ts'

export function SignIn() {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const { error, isBusy, run } = useAct(() => signIn(email, password))
  useEffect(() => {
    document.title = 'Sign in · Mailhorn'
  }, [])
  return (
    <main class="door">
      <div class="door-word">
        <span class="brand">
          <Horn size={28} /> Mailhorn
        </span>
        <p>Your mail, delivered by your own machine.</p>
        <Horn class="horn" />
      </div>
      <div class="door-form">
        <form
          class="stack"
          onSubmit={event => {
            event.preventDefault()
            void run()
          }}
        >
          <h1>Sign in</h1>
          {hasExpired.value && (
            <Note tone="warn">
              <p>
                <b>Your session has ended.</b> Sign in again to go on. What you have not saved is kept in this
                browser.
              </p>
            </Note>
          )}
          <TextField
            label="Email address"
            type="email"
            name="email"
            autocomplete="username"
            required
            autofocus
            value={email}
            onValue={setEmail}
          />
          <TextField
            label="Password"
            type="password"
            name="password"
            autocomplete="current-password"
            required
            value={password}
            onValue={setPassword}
          />
          {error && <Failure error={error} />}
          <Button type="submit" kind="main" disabled={isBusy}>
            {isBusy ? 'One moment …' : 'Sign in'}
          </Button>
          <p class="quiet small">
            The first start of the service printed an address and a password on its console. Lost it?{' '}
            <code>bin/mailhorn user password</code> makes a new one.
          </p>
        </form>
      </div>
    </main>
  )
}
